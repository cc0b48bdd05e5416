"""Faults of the controller, of its machine and of disks."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from _slurm_cluster import away, slurm, until
from _slurm_fault import fault
from _slurm_lab import SLOW_SBATCH, Case, disks


def _killed(case: Case, ready: Callable[[], object], what: str, *options: str, pause: float = 2.0) -> int:
    case.begin(*options)
    until(ready, what)
    case.kill()
    time.sleep(pause)
    case.resume()
    return 0


@fault("controller")
def killed_before_sbatch(case: Case) -> int:
    """SIGKILL while it submits, before Slurm has the jobs."""
    with case.instead("sbatch", SLOW_SBATCH):
        return _killed(case, lambda: (case.root / "submitting").exists(), "sbatch")


@fault("controller")
def killed_after_sbatch(case: Case) -> int:
    """SIGKILL while it submits, after Slurm has the jobs: the login node reboots."""
    calls = case.root / "calls"
    script = f"""case "$*" in
*--array*) {shutil.which("sbatch")} "$@" >/dev/null; echo "$*" >>{calls}; sleep 60
esac"""
    with case.instead("sbatch", script):
        _killed(case, calls.exists, "sbatch")
        case.end()
    assert len(calls.read_text().splitlines()) == 1, "submitted twice"
    return 0


@fault("controller")
def killed_while_queued(case: Case) -> int:
    """SIGKILL while its runs are in the queue."""
    with case.kept_in_queue():
        return _killed(case, case.queued, "all in the queue")


@fault("controller")
def killed_while_running_back_late(case: Case) -> int:
    """SIGKILL while its runs work; resumed when all have ended and Slurm has forgotten them."""
    return _killed(case, case.running, "all at work", pause=90.0)


@fault("controller")
def killed_while_collecting(case: Case) -> int:
    """SIGKILL when the first run's files have come, before its job is removed and graded."""
    case.begin()
    case.running()
    folder = case.shell.runs / "g"
    until(lambda: list(folder.glob("*/attempts/*")), "files of a run")
    case.kill()
    case.resume()
    return 0


@fault("controller")
def killed_again_and_again(case: Case) -> int:
    """SIGKILL every six seconds."""
    case.begin()
    until(lambda: (case.shell.runs / "g" / "events.jsonl").exists(), "the group")
    for _ in range(5):
        time.sleep(6)
        case.kill()
        case.resume()
    return 0


@fault("controller")
def clock_jumps(case: Case) -> int:
    """The controller's wall clock jumps by up to a year."""
    case.prelude = (
        "import datetime, random, time\nfrom mlecore.runs import journal\nclock = time.time\n"
        "time.time = lambda: clock() + random.uniform(-3e7, 3e7)\n"
        "journal.now = lambda: datetime.datetime.fromtimestamp(time.time(), datetime.UTC).isoformat()\n"
    )
    case.begin()
    return 0


@fault("controller", "cancelled")
def cancelled_by_its_user(case: Case) -> int:
    """`mlecore runs cancel` while runs work and others wait."""
    case.begin("-B", f"exclude={_all_but_one()}", "--cpus", "2")
    case.running(1)
    case.cancel()
    return 0


@fault("server", "cancelled")
def cancelled_in_an_outage(case: Case) -> int:
    """`mlecore runs cancel` while slurmctld is away and runs wait in the queue."""
    with case.kept_in_queue():
        case.begin()
        case.queued()
        with away("slurmctld"):
            case.cancel()
            time.sleep(15)
        case.end()
    return 0


def _all_but_one() -> str:
    return ",".join(sorted(set(slurm("sinfo", "--noheader", "--Node", "--format=%N").split()))[1:])


def _on_disk(case: Case, stack: ExitStack, megabytes: int = 64) -> disks.Disk:
    disk = disks.Disk(case.root / "own", megabytes << 20)
    stack.callback(disk.close)
    case.state = disk.at / "state"
    return disk


def _fill(folder: Path) -> Path:
    filler = folder / "filler"
    subprocess.run(["dd", "if=/dev/zero", f"of={filler}", "bs=4096"], capture_output=True, check=False)
    return filler


@fault("disk")
def state_full_while_running(case: Case) -> int:
    """The disk of the state folder is full while runs work and write their submissions."""
    disk = _on_disk(case, case.stack)
    case.begin()
    case.running()
    filler = _fill(disk.at)
    time.sleep(15)
    filler.unlink()
    return case.runs


@fault("disk")
def state_full_while_starting(case: Case) -> int:
    """The disk of the state folder is full when the group starts; it is resumed when there is room."""
    disk = _on_disk(case, case.stack)
    case.state.mkdir()
    filler = _fill(disk.at)
    case.begin()
    assert case.end() == 3 and "No space left" in case.said()
    filler.unlink()
    case.resume()
    return 0


@fault("disk")
def state_read_only(case: Case) -> int:
    """The state folder is read-only on all machines when jobs begin."""
    disk = _on_disk(case, case.stack)
    with case.kept_in_queue():
        case.begin()
        case.queued()
        subprocess.run(["mount", "-o", "remount,ro", str(disk.at)], check=True, capture_output=True)
    time.sleep(10)
    subprocess.run(["mount", "-o", "remount,rw", str(disk.at)], check=True, capture_output=True)
    return case.runs


@fault("disk")
def state_unmounted(case: Case) -> int:
    """The shared file system is away on all machines while runs wait in the queue."""
    disk = _on_disk(case, case.stack)
    with case.kept_in_queue():
        case.begin()
        case.queued()
        disk.unplug()
        time.sleep(10)
        disk.mount()
    return 0


@fault("disk")
def scratch_full(case: Case) -> int:
    """A node's disk is full when data are copied to it."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k,mode=755", "none", str(case.scratch)], check=True)
    case.stack.callback(subprocess.run, ["umount", "--lazy", str(case.scratch)], check=False)
    filler = _fill(case.scratch)
    case.begin()
    case.retried()
    filler.unlink()
    return 1


@fault("disk")
def scratch_missing(case: Case) -> int:
    """The node has no such scratch folder."""
    case.scratch.rmdir()
    case.begin()
    case.retried()
    case.scratch.mkdir()
    return 1


@fault("disk")
def queue_file_damaged(case: Case) -> int:
    """A request in the queue is cut off, as after a crash of the file server."""
    with case.kept_in_queue():
        case.begin()
        case.queued()
        request = case.entries()[0].folder / "request.json"
        request.write_bytes(request.read_bytes()[:100])
    return 1


@fault("disk")
def batch_damaged(case: Case) -> int:
    """The list of an array's runs is empty."""
    with case.kept_in_queue():
        case.begin()
        case.queued()
        for members in (case.state / "batches").glob("*/members"):
            members.write_bytes(b"")
    return 1


@fault("disk")
def run_removed(case: Case) -> int:
    """Somebody deletes a queued run's folder."""
    with case.kept_in_queue():
        case.begin()
        case.queued()
        shutil.rmtree(case.entries()[0].folder)
    return 1


@fault("disk")
def state_of_a_run_damaged(case: Case) -> int:
    """The file in which a supervisor says how its run ended is empty."""
    case.begin()
    entry = case.running()[0]
    until(lambda: (entry.state() or {}).get("phase") == "exited", "its end")
    (entry.job / "state.json").write_bytes(b"")
    return 1
