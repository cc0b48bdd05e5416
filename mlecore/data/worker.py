"""Prepare one competition in a separate process: a request on standard input, progress and the result as JSON lines.

Plugins are other people's code: one that uses up the memory or crashes ends only this process. When
standard input closes, the caller is gone, and this process ends too; the next call cleans up.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from pathlib import Path
from typing import Any, TextIO

from mlecore.data.layout import DataDirs
from mlecore.data.preparing import Preparation, prepare
from mlecore.data.sources import Archive, Fetch, Kaggle, RawFolder, Source, Synthetic
from mlecore.errors import MlecoreError

_EVERY = 0.2  # seconds between two lines of progress

SOURCES: dict[str, type[Source]] = {
    "synthetic": Synthetic,
    "raw": RawFolder,
    "archive": Archive,
    "fetch": Fetch,
    "kaggle": Kaggle,
}


def main() -> None:
    request = json.loads(sys.stdin.readline())
    threading.Thread(target=_die_with_parent, daemon=True).start()
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what a plugin prints must not mix with the results
    try:
        _say(out, preparation=_prepare(request, out).to_json())
    except MlecoreError as error:
        values = {
            "kind": type(error).__name__,
            "message": error.message,
            "fix": error.fix,
            "exit_code": error.exit_code,
        }
        _say(out, error=values)
    except KeyboardInterrupt:
        sys.exit(130)


def _prepare(request: dict[str, Any], out: TextIO) -> Preparation:
    from mlecore.competitions import competition

    last = 0.0

    def progress(done: int, total: int, what: str) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= _EVERY or done == total:
            last = now
            _say(out, progress=[done, total, what])

    waiting = ""

    def wait(holder: str) -> bool:
        nonlocal waiting
        if holder != waiting:
            waiting = holder
            _say(out, waiting=holder)
        return True

    kind, arguments = request["source"]
    source = None if kind is None else SOURCES[kind](**arguments)
    if isinstance(source, RawFolder | Archive):
        source = type(source)(Path(source.path))
    return prepare(
        competition(request["id"], request["edition"]),
        DataDirs(tuple(map(Path, request["dirs"]))),
        source,
        force=request["force"],
        keep_raw=request["keep_raw"],
        verify=request["verify"],
        progress=progress,
        wait=wait,
    )


def _say(out: TextIO, **values: object) -> None:
    out.write(json.dumps(values) + "\n")
    out.flush()


def _die_with_parent() -> None:
    while os.read(0, 1024):  # not sys.stdin, whose lock Python wants when it ends
        continue
    os._exit(3)


if __name__ == "__main__":
    main()
