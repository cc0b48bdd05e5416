"""Who ended a job: its own processes, which count against the agent, or somebody outside, which is infrastructure."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from mlecore.model.backends import ARGV_KILLED, INIT_KILLED, Handle
from mlecore_jobs.supervise import processes
from mlecore_jobs.supervise.disk import others_filled
from mlecore_sandboxes import folders

WAITS = "echo up; while :; do sleep 0.05; done"


def state_of(handle: Handle) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folders.folder_of(handle) / "state.json").read_text())
    return found


@pytest.fixture
def started(lab: Any) -> Callable[..., Handle]:
    """A job that has said that it is up."""

    def start(script: str = WAITS, **words: Any) -> Handle:
        handle: Handle = lab.start(script, **words)
        lab.until(lambda: "up" in lab.printed(handle))
        return handle

    return start


@pytest.mark.sandbox
def test_an_init_that_is_killed_is_an_infrastructure_failure(lab: Any, started: Callable[..., Handle]) -> None:
    handle = started("echo forged >.mlecore/exit.json; " + WAITS)
    os.kill(state_of(handle)["init"], signal.SIGKILL)
    status = lab.wait(handle)
    assert (status.exit_code, status.infra_failure) == (INIT_KILLED, True) and "outside" in status.reason


@pytest.mark.sandbox
def test_a_bubblewrap_that_is_killed_is_an_infrastructure_failure(lab: Any, started: Callable[..., Handle]) -> None:
    handle = started()
    sandbox = state_of(handle)["sandbox"]
    wraps = [pid for pid in (sandbox, *processes.below(sandbox)) if b"bwrap" in _first_word(pid)]
    assert wraps
    os.kill(wraps[-1], signal.SIGKILL)
    status = lab.wait(handle)
    assert status.infra_failure and not status.oom


@pytest.fixture
def tiny_memory() -> Iterator[Path]:
    """A cgroup in which the kernel kills whatever asks for memory."""
    here = next((line for line in Path("/proc/self/cgroup").read_text().splitlines() if ":memory:" in line), "")
    group = Path("/sys/fs/cgroup/memory", here.rpartition(":")[2].lstrip("/"), f"mlecore-test-{os.getpid()}")
    if os.geteuid() != 0 or not here or not group.parent.is_dir():
        pytest.skip("needs root and cgroup v1")
    group.mkdir()
    (group / "memory.limit_in_bytes").write_text(str(1 << 18))
    yield group
    group.rmdir()


@pytest.mark.sandbox
def test_an_init_that_is_killed_for_memory_is_the_agents_doing(
    lab: Any, started: Callable[..., Handle], tiny_memory: Path
) -> None:
    """Only its init is moved: an agent cannot, but it could have the kernel choose it."""
    handle = started()
    (tiny_memory / "cgroup.procs").write_text(str(state_of(handle)["init"]))
    status = lab.wait(handle)
    assert (status.exit_code, status.oom, status.infra_failure) == (INIT_KILLED, True, False), status


def _first_word(pid: int) -> bytes:
    with contextlib.suppress(OSError):
        return Path("/proc", str(pid), "cmdline").read_bytes().partition(b"\0")[0]
    return b""


def test_a_machine_that_shuts_down_is_an_infrastructure_failure(any_lab: Any) -> None:
    """All get SIGTERM, and init first; the agent ends fast."""
    handle = any_lab.start("trap 'exit 3' TERM; " + WAITS)
    any_lab.until(lambda: "up" in any_lab.printed(handle))
    state = state_of(handle)
    os.kill(state["init"], signal.SIGTERM)
    any_lab.until(lambda: (folders.folder_of(handle) / "home/.mlecore/exit.json").exists())
    os.kill(state["pid"], signal.SIGTERM)
    status = any_lab.wait(handle)
    assert status.infra_failure and "terminated" in status.reason


@pytest.mark.sandbox
@pytest.mark.parametrize(
    "script",
    [
        "kill -9 $$",
        "chmod 0 .mlecore; exit 137",
        "kill -9 1; exit 137",
        "trap '' TERM; kill -TERM 1; sleep 60",
        "mkfifo .mlecore/exit.json; exit 137",
        "kill -9 -1; kill -9 $$",
    ],
)
def test_what_the_agent_can_do_itself_is_the_agents(lab: Any, script: str) -> None:
    status, _ = lab.run(script, grace=0.2)
    assert (status.phase, status.exit_code, status.infra_failure) == ("exited", ARGV_KILLED, False)


@pytest.fixture
def small_disk(state: Path) -> Iterator[Path]:
    """The backend's folder on its own disk."""
    state.mkdir(parents=True, exist_ok=True)
    if (
        os.geteuid() != 0
        or subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=24m", "mlecore-test", state], capture_output=True
        ).returncode
    ):
        pytest.skip("mounting needs root")
    yield state
    subprocess.run(["umount", "-l", state], check=True)


def fill(folder: Path, leave: int = 0) -> None:
    with contextlib.suppress(OSError), (folder / "filler").open("wb", buffering=0) as out:
        while shutil.disk_usage(folder).free > leave:
            out.write(bytes(1 << 16))


@pytest.mark.slow
def test_a_disk_that_others_fill_is_an_infrastructure_failure(small_disk: Path, make_lab: Callable[..., Any]) -> None:
    lab = make_lab(isolation="none")
    write = "touch code/wait; while [ -e code/wait ]; do sleep 0.05; done; head -c 5000000 /dev/zero >code/x || exit 1"
    handle = lab.start(write, disk=10_000_000)
    lab.until(lambda: lab.status(handle).phase == "running")
    gate = folders.folder_of(handle) / "home/code/wait"
    lab.until(gate.exists)
    fill(small_disk)
    gate.unlink()
    lab.until(lambda: not processes.alive(state_of(handle)["init"], state_of(handle)["init_started"]))
    filler = small_disk / "filler"
    os.truncate(filler, filler.stat().st_size - (1 << 19))  # the disk is full still, but the job's state has room
    status = lab.wait(handle)
    assert status.infra_failure and "disk is full" in status.reason


def test_a_disk_that_the_agent_fills_is_its_own_doing(small_disk: Path) -> None:
    job = small_disk / "job"
    job.mkdir()
    room = shutil.disk_usage(small_disk).free
    assert not others_filled([str(job)], room)  # nobody did
    fill(job)
    assert not others_filled([str(job)], room)
    (job / "filler").unlink()
    fill(small_disk)
    assert others_filled([str(job)], room)
    assert not others_filled([str(job)], 0)  # it was full already
