"""Run one experiment while its disk or its clock misbehaves, and see that no run is lost, graded twice or graded wrong.

    python benchmarks/faults.py operations [--rounds 250]   # SIGKILL of the controller at chosen file operations
    python benchmarks/faults.py full [--rounds 100]         # the disk of the runs is full for a moment
    python benchmarks/faults.py away [--rounds 100]         # that disk is unmounted for a moment
    python benchmarks/faults.py clock [--rounds 100]        # the controller's wall clock jumps by up to a year

`full` and `away` need root and loop devices (tests/disks.py). The backend is the imagined one of the tests. Exit code 1
if something is wrong.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
KILLED = """
import os, signal
from mlecore import files
count = 0
def fault(operation, path):
    global count
    count += 1
    if count >= {n}:
        os.killpg(0, signal.SIGKILL)
kept = files.faults(fault)
kept.__enter__()
"""
JUMPING = """
import datetime, random, time
from mlecore.runs import journal
dice, clock = random.Random({n}), time.time
def jumping():
    return clock() + dice.uniform(-3e7, 3e7)
time.time = jumping
journal.now = lambda: datetime.datetime.fromtimestamp(jumping(), datetime.UTC).isoformat(timespec="milliseconds")
"""
VERB = "from mlecore.cli import main; main()"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("fault", choices=("operations", "full", "away", "clock"))
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT / "tests"), str(ROOT / "tests" / "controller")]
    import disks
    import kill_controller
    import processes

    dice, began = random.Random(options.seed), time.monotonic()
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        shell = processes.Shell(Path(name), Path(name) / "data")
        code, output = shell.call("prepare", "coins")
        assert code == 0, output
        seconds = "0.5" if options.fault in ("full", "away") else "0.1"
        arguments = [*shell.run_arguments("g", options.runs, seconds=seconds), "--max-parallel", "2"]
        if options.fault in ("full", "away"):
            disk = disks.Disk(Path(name) / "own", 32 << 20)
            stack.callback(disk.close)
            shell.runs = disk.at / "runs"
            shell.env["MLECORE_RUNS"] = str(shell.runs)
            rounds = troubled(shell, arguments, options.rounds, full if options.fault == "full" else away, disk, dice)
        else:
            rounds = altered(shell, arguments, options.rounds, options.fault, dice)
        code, output = shell.call(*arguments, timeout=3600)
        try:
            assert code == 0, output
            kill_controller.check_runs(shell, options.runs, "folders")
        except AssertionError as error:
            print(f"{options.fault}: {rounds} rounds, {options.runs} runs: wrong: {error}")
            return 1
    seconds = f"{time.monotonic() - began:.0f} s"
    print(f"{options.fault}: {rounds} rounds, {options.runs} runs: all graded once, none lost; {seconds}")
    return 0


def altered(shell: Any, arguments: list[str], rounds: int, fault: str, dice: random.Random) -> int:
    """Controllers one after the other, each of which is changed before it begins; how many there were."""
    done = 0
    while done < rounds:
        if fault == "operations":
            before = KILLED.format(n=dice.randint(1, 60))
            patience = 60.0
        else:
            before, patience = JUMPING.format(n=dice.randrange(10**6)), dice.uniform(1.0, 3.0)
        controller = subprocess.Popen(
            [sys.executable, "-c", before + VERB, *arguments],
            env=shell.env,
            cwd=shell.root,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            if controller.wait(timeout=patience) == 0:
                return done
        except subprocess.TimeoutExpired:
            controller.terminate()
            controller.wait()
        done += 1
        report(done)
    return done


def troubled(shell: Any, arguments: list[str], rounds: int, trouble: Any, disk: Any, dice: random.Random) -> int:
    """One controller after the other, while the disk of the runs is in trouble again and again; how often it was.

    Only a group that is there is put to the test: a first `run` makes the folder of the groups where there is none.
    """
    done, controller = 0, shell.begin(*arguments)
    while not (shell.runs / "g" / "events.jsonl").exists() and controller.poll() is None:
        time.sleep(0.05)
    while done < rounds:
        time.sleep(dice.uniform(0.2, 1.0))
        if controller.poll() is not None:
            controller.communicate()
            if controller.returncode == 0:
                return done
            controller = shell.begin("runs", "resume", "g", "--max-parallel", "2")
        trouble(disk, dice.uniform(0.1, 1.5))
        done += 1
        report(done)
    controller.communicate()
    return done


def full(disk: Any, seconds: float) -> None:
    """No room for so long."""
    filler = disk.at / "filler"
    with contextlib.suppress(OSError), filler.open("wb", buffering=0) as file:
        for size in (1 << 20, 1 << 12, 1):
            with contextlib.suppress(OSError):
                while True:
                    file.write(bytes(size))
    time.sleep(seconds)
    filler.unlink(missing_ok=True)


def away(disk: Any, seconds: float) -> None:
    """Unmounted for so long; nothing may have been written below the mount point meanwhile."""
    disk.unplug()
    try:
        time.sleep(seconds)
        stray = list(disk.at.iterdir())
        assert not stray, f"written below the mount point: {stray}"
    finally:
        disk.mount()


def report(done: int) -> None:
    if done % 20 == 0:
        print(f"{done} rounds", flush=True)


if __name__ == "__main__":
    sys.exit(main())
