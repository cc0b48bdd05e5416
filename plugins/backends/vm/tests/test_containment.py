"""Agents that ignore signals, fork, daemonise, fill memory and disk: contained, told apart, gone afterwards."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mle_backend_vm.supervise import processes

from mlecore.backends import ARGV_KILLED


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


def test_sigterm_ignored_is_killed_after_the_grace(any_lab: Any) -> None:
    status, _ = any_lab.run(
        "/bin/sh", "-c", "trap '' TERM INT HUP; while :; do sleep 1; done", time_limit=0.5, grace=0.3
    )
    assert (status.phase, status.exit_code, status.infra_failure) == ("exited", 124, False)


@pytest.mark.parametrize(
    "script",
    [
        "(setsid sh -c 'trap \"\" TERM HUP; sleep 300' {word} >/dev/null 2>&1 </dev/null &) ; sleep 0.3",
        "(setsid setsid sh -c 'env -i sh -c \"sleep 300; :\" {word} & sleep 301' {word} &) & sleep 0.3",
        "sh -c 'kill -STOP $$; :' {word} & sleep 0.3",
        "(trap '' TERM; setsid -f sh -c 'while :; do setsid -f sleep 0.1; sleep 0.05; done' {word}) ; sleep 0.3",
    ],
)
def test_what_daemonised_is_gone(any_lab: Any, word: str, script: str, wait_until: Callable[..., None]) -> None:
    handle = any_lab.start("/bin/sh", "-c", script.format(word=word))
    wait_until(lambda: any_lab.status(handle).phase == "exited" or carrying(word) != [])
    status = any_lab.wait(handle)
    assert status.exit_code == 0
    assert carrying(word) == []


@pytest.mark.sandbox
def test_a_fork_bomb_is_bounded(lab: Any, word: str) -> None:
    bomb = "i=0; while [ $i -lt 300 ]; do sleep 60 & i=$((i+1)); done 2>/dev/null; echo not reached; sleep 60"
    status, output = lab.run("/bin/sh", "-c", bomb, word, processes=40, time_limit=20.0)
    assert status.phase == "exited" and status.exit_code not in (0, 124)
    assert "not reached" not in output
    assert carrying(word) == []


def test_too_many_processes_without_a_sandbox_are_ended(make_lab: Callable[..., Any], word: str) -> None:
    lab = make_lab(isolation="none")
    bomb = "i=0; while [ $i -lt 60 ]; do sleep 60 & i=$((i+1)); done; sleep 60"
    status, _ = lab.run("/bin/sh", "-c", bomb, word, processes=40, time_limit=20.0)
    assert (status.exit_code, status.reason) == (137, "had more than its 40 processes")
    assert carrying(word) == []


def test_the_memory_limit_ends_the_job_as_out_of_memory(any_lab: Any) -> None:
    hog = (
        "import time\nkept = []\nfor _ in range(40):\n  kept.append(b'x' * 10_000_000); time.sleep(0.05)\ntime.sleep(9)"
    )
    status, _ = any_lab.run("python3", "-c", hog, memory=100_000_000)
    assert (status.phase, status.exit_code, status.oom, status.infra_failure) == ("exited", ARGV_KILLED, True, False)
    assert "100000000 bytes of memory" in status.reason


def test_a_child_beyond_the_memory_is_killed_and_the_job_goes_on(any_lab: Any) -> None:
    hog = "python3 -c 'import time; x = b\"x\" * 250_000_000; time.sleep(9)'; echo went on"
    status, output = any_lab.run("/bin/sh", "-c", hog, memory=100_000_000)
    assert "went on" in output and (status.exit_code, status.oom) == (0, False)


@pytest.mark.sandbox
def test_memory_hidden_in_shm_counts(lab: Any) -> None:
    status, output = lab.run("/bin/sh", "-c", "head -c 80000000 /dev/zero > /dev/shm/x", memory=100_000_000)
    assert status.exit_code != 0 and "No space left" in output  # half of the memory
    hog = "open('/dev/shm/x', 'wb').write(b'x' * 45_000_000); kept = b'x' * 65_000_000; import time; time.sleep(20)"
    status, _ = lab.run("python3", "-c", hog, memory=100_000_000, name="mle-test-2")
    assert status.oom


def test_memory_shared_after_a_fork_counts_once(any_lab: Any) -> None:
    script = "import os, time\nx = b'x' * 60_000_000\nfor _ in range(3):\n  if not os.fork(): break\ntime.sleep(1)"
    status, _ = any_lab.run("python3", "-c", script, memory=100_000_000)
    assert (status.exit_code, status.oom) == (0, False)


def test_the_disk_limit_ends_the_job(any_lab: Any) -> None:
    script = "i=0; while [ $i -lt 30 ]; do head -c 1000000 /dev/urandom > code/$i; i=$((i+1)); done; sleep 60"
    status, _ = any_lab.run("/bin/sh", "-c", script, disk=5_000_000)
    assert (status.exit_code, status.reason) == (137, "wrote more than its 5000000 bytes")


def test_a_file_cannot_grow_beyond_the_disk_limit(any_lab: Any) -> None:
    status, _ = any_lab.run("/bin/sh", "-c", "head -c 3000000 /dev/zero > code/x; stat -c %s code/x", disk=1_000_000)
    assert status.phase == "exited"
    _, into = any_lab.fetch(any_lab.handles[0], "code/x")
    assert (into / "code/x").stat().st_size <= 1_000_000


def test_cpus_are_what_was_asked_for(any_lab: Any) -> None:
    status, output = any_lab.run("nproc", cpus=1.0)
    assert (status.exit_code, output) == (0, "1\n")


def test_output_without_end_is_cut_and_does_not_block(tmp_path: Path) -> None:
    import os
    import threading

    from mle_backend_vm.supervise.output import Output

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


def test_init_reports_the_end(any_lab: Any) -> None:
    status, _ = any_lab.run("/bin/sh", "-c", "kill -9 $$")
    assert status.exit_code == ARGV_KILLED and not status.infra_failure and not status.oom
    _, into = any_lab.fetch(any_lab.handles[0], ".mlecore/exit.json")
    assert json.loads((into / ".mlecore/exit.json").read_text())["signal"] == 9
