"""Cut the power of the disk that runs and jobs lie on, again and again, and see that no run is lost or graded wrong.

    python benchmarks/power_loss.py [--losses 200] [--runs 100] [--seed 0]

Needs root and loop devices: ext4 on an image is shut down without a flush of its journal (tests/disks.py), everything
that was at work is killed, and what is on the disk gets another boot id, as after a real loss.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
AGENT = "sleep 0.$((MLECORE_SEED % 10)); cp /opt/mlecore/sample.csv /home/submission/submission.csv; sleep 0.3\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--losses", type=int, default=200)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "controller")]
    import disks
    import processes

    from mlecore import files

    rng = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        disk = disks.Disk(folder / "own", 1 << 30)
        try:
            shell = processes.Shell(folder, folder / "data")
            shell.runs = disk.at / "runs"
            shell.env |= {"MLECORE_RUNS": str(shell.runs), "MLECORE_VM_STATE": str(disk.at / "vm")}
            (folder / "agent.sh").write_text(AGENT)
            arguments = [
                "run",
                "--agent",
                "command",
                "-A",
                "argv=sh agent.sh",
                "--competition",
                "coins",
                "--group",
                "g",
            ]
            arguments += ["--seeds", str(options.runs), "--time-limit", "60", "--retries", "100000"]
            began, losses = time.monotonic(), 0
            while losses < options.losses and lose(disk, shell, rng.uniform(0.5, 8.0), arguments):
                losses += 1
                if losses % 10 == 0:
                    print(f"{losses} losses, {time.monotonic() - began:.0f} s", flush=True)
            code, output = shell.call(*arguments, timeout=3600)
            assert code == 0, output
            time.sleep(files.SURELY_HELD)  # a younger folder of a job may still be in the making: the next command
            code, output = shell.call("runs", "resume", "g")  # removes it
            assert code == 0, output
            attempts = check(shell, disk.at / "vm", options.runs)
            seconds = time.monotonic() - began
            print(f"{losses} losses, {options.runs} runs in {attempts} attempts: all graded right; {seconds:.0f} s")
        finally:
            disk.close()


def lose(disk, shell, seconds: float, arguments: list[str]) -> bool:
    """One loss of power, so many seconds after the controller began; False if all was done before."""
    controller = shell.begin(*arguments)
    try:
        controller.wait(timeout=seconds)
        return False
    except subprocess.TimeoutExpired:
        disk.lose_power(lambda: kill(controller, disk))
        for path in disk.at.glob("vm/jobs/*/*.json"):
            with contextlib.suppress(ValueError):  # torn, as it should be seen to be
                path.write_text(json.dumps({**json.loads(path.read_text()), "boot": "before"}))
        return True
    finally:
        controller.stdout.close()


def kill(controller, disk) -> None:
    """The controller and all jobs of this disk, as the machine that they ran on is dead."""
    working = at_work(disk.at)
    os.killpg(controller.pid, signal.SIGKILL)
    controller.wait()
    for pid in working | at_work(disk.at):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def at_work(disk: Path) -> set[int]:
    """Supervisors of jobs on this disk, and all below them."""
    found, parents = set(), {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            if str(disk).encode() in (folder / "cmdline").read_bytes():
                found.add(int(folder.name))
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {os.getpid()}


def check(shell, state: Path, runs: int) -> int:
    """Every run is graded right and nothing is left at the backend; how many attempts there were."""
    from mlecore.runs.store import grade_of, load_group

    problems: list[str] = []
    records = load_group(shell.runs / "g", problems)
    assert not problems, problems
    assert Counter(record.state for record in records) == {"graded": runs}
    for record in records:
        grade = grade_of(record.folder)
        right = record.ended == "finished" and grade["run"] == record.uid and grade["score"] == 0.6
        assert right, f"{record.reason}: {grade}\n{record.attempts}"
        assert all(attempt.infra_failure for attempt in record.attempts[:-1]), record.attempts
    left = [str(path.relative_to(state)) for part in ("jobs", "new", "trash") for path in (state / part).glob("*")]
    assert not left, f"left of jobs: {left}"
    return sum(len(record.attempts) for record in records)


if __name__ == "__main__":
    main()
