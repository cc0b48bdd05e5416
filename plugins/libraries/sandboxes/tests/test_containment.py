"""Agents that ignore signals, fork, daemonise, fill memory and disk: contained, told apart, gone afterwards."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mlecore_jobs.supervise import processes


def carrying(word: str) -> list[int]:
    """Processes on this machine whose command line has ``word`` in it."""
    out = []
    for pid in processes.pids():
        try:
            if word.encode() in Path("/proc", str(pid), "cmdline").read_bytes():
                out.append(pid)
        except OSError:
            continue
    return out


@pytest.fixture
def word() -> str:
    return f"trace-{uuid.uuid4().hex}"


@pytest.mark.parametrize(
    "script",
    [
        "(setsid setsid sh -c 'env -i sh -c \"sleep 300; :\" {word} & sleep 301' {word} &) & sleep 0.3",
        "(trap '' TERM; setsid -f sh -c 'while :; do setsid -f sleep 0.1; sleep 0.05; done' {word}) ; sleep 0.3",
    ],
)
def test_what_daemonised_is_gone(any_lab: Any, word: str, script: str) -> None:
    handle = any_lab.start(script.format(word=word))
    any_lab.until(lambda: any_lab.status(handle).phase == "exited" or carrying(word) != [])
    status = any_lab.wait(handle)
    assert status.exit_code == 0
    assert carrying(word) == []


def test_too_many_processes_without_a_sandbox_are_ended(make_lab: Callable[..., Any], word: str) -> None:
    lab = make_lab(isolation="none")
    bomb = "i=0; while [ $i -lt 60 ]; do sleep 300 & i=$((i+1)); done; sleep 300"
    status, _ = lab.run(argv=("/bin/sh", "-c", bomb, word), processes=40)
    assert (status.exit_code, status.reason) == (137, "had more than its 40 processes")
    assert carrying(word) == []


def test_memory_shared_after_a_fork_counts_once(any_lab: Any) -> None:
    script = "import os, time\nx = b'x' * 60_000_000\nfor _ in range(3):\n  if not os.fork(): break\ntime.sleep(1)"
    status, _ = any_lab.run(argv=("python3", "-c", script), memory=100_000_000)
    assert (status.exit_code, status.oom) == (0, False)


def test_output_without_end_is_cut_and_does_not_block(tmp_path: Path) -> None:
    import os
    import threading

    from mlecore_jobs.supervise.output import Output

    source, sink = os.pipe()
    os.set_blocking(source, False)
    output = Output(source, str(tmp_path / "output"), limit=100_000)

    def write() -> None:
        for _ in range(50):
            os.write(sink, b"x" * 10_000)
        os.close(sink)

    writer = threading.Thread(target=write)
    writer.start()
    while output.pump():
        pass
    writer.join()
    text = (tmp_path / "output").read_bytes()
    assert text.count(b"x") == 100_000 and text.endswith(b"it is too much]\n")
