"""The process of one detector: a request a line on standard input, an answer a line on standard output.

A detector is other people's code and reads hostile files: if it hangs, crashes or takes too much, this process ends and
nothing else. It keeps what it has read between two runs of a group. When standard input closes, it ends at once.
"""

from __future__ import annotations

import json
import os
import queue
import resource
import signal
import sys
import threading
from pathlib import Path
from typing import Any

from mlecore.errors import MlecoreError
from mlecore.runs.record import RunRecord
from mlecore.runs.store import read_record

_LARGEST = 8 * 2**20  # bytes of what a detector may find in one run

_group: dict[Path, RunRecord] = {}  # grows: each run is named, and read, once


def main(memory: int) -> None:
    """Serve until standard input ends. ``memory``: bytes that this process may take, and each that it starts."""
    resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what a detector prints must not mix with the answers
    requests: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(requests,), daemon=True).start()
    while True:
        answers.write(_answer(json.loads(requests.get()), memory) + "\n")
        answers.flush()


def _read(requests: queue.SimpleQueue[str]) -> None:
    with os.fdopen(os.dup(0), encoding="utf-8") as stream:
        for line in stream:
            requests.put(line)
    os.killpg(os.getpgid(0), signal.SIGKILL)  # programs that the detector has started, too


def _answer(request: dict[str, Any], memory: int) -> str:
    try:
        text = json.dumps({"detection": _detect(request)}, allow_nan=False)
    except MlecoreError as error:
        return json.dumps({"error": str(error)})
    except MemoryError:
        return json.dumps({"error": f"it took more than its memory limit of {memory / 2**30:g} GB"})
    except (TypeError, ValueError, RecursionError) as error:
        return json.dumps({"error": f"what it found cannot be written as JSON: {error}"})
    if len(text) > _LARGEST:
        return json.dumps({"error": f"it found more than can be written: {len(text)} bytes"})
    return text


def _detect(request: dict[str, Any]) -> dict[str, Any]:
    from mlecore.competitions import competition
    from mlecore.registry.loading import load
    from mlecore.schema import plain

    for folder in map(Path, request["joined"]):
        _group[folder] = read_record(folder)
    run = _group[Path(request["run"])]
    public = request["public"]
    found = load("detector", request["detector"]).call(
        "detect",
        run=run,
        group=list(_group.values()),
        competition=competition(run.competition, run.edition),
        public=None if public is None else Path(public),
        options=request["options"],
    )
    return plain(found)


if __name__ == "__main__":
    main(int(sys.argv[1]))
