"""Run one experiment while its disk or its clock misbehaves, and see that no run is lost, graded twice or graded wrong.

    python benchmarks/faults.py kills [--rounds 200] [--backend vm]   # SIGKILL of the controller at any moment
    python benchmarks/faults.py operations [--rounds 250]   # SIGKILL of the controller at chosen file operations
    python benchmarks/faults.py full [--rounds 100]         # the disk of the runs is full for a moment
    python benchmarks/faults.py away [--rounds 100]         # that disk is unmounted for a moment
    python benchmarks/faults.py clock [--rounds 100]        # the controller's wall clock jumps by up to a year

`full` and `away` need root and loop devices (tests/disks.py). The backend is the simulated one of the tests, unless
`--backend vm` is given. Exit code 1 if something is wrong; give it more `--runs` if they end before all rounds.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
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
COMMAND = "from mlecore.cli import main; main()"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("fault", choices=("kills", "operations", "full", "away", "clock"))
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--backend", choices=("folders", "vm"), default="folders", help="for kills")
    options = parser.parse_args()
    sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "controller")]
    import disks
    import processes

    dice, began = random.Random(options.seed), time.monotonic()
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        shell = processes.Shell(Path(name), Path(name) / "data")
        code, output = shell.call("prepare", "coins")
        assert code == 0, output
        seconds = "0.5" if options.fault in ("full", "away") else "0.1"
        arguments = [*shell.run_arguments("g", options.runs, seconds=seconds), "--max-parallel", "2"]
        if options.backend == "vm":
            arguments = on_vm(shell, options.runs)
        if options.fault in ("full", "away"):
            disk = disks.Disk(Path(name) / "own", 32 << 20)
            stack.callback(disk.close)
            shell.runs = disk.at / "runs"
            shell.env["MLECORE_RUNS"] = str(shell.runs)
            rounds = troubled(shell, arguments, options.rounds, full if options.fault == "full" else away, disk, dice)
        elif options.fault == "kills":
            rounds = killed(shell, arguments, options.rounds, dice)
        else:
            rounds = altered(shell, arguments, options.rounds, options.fault, dice)
        code, output = shell.call(*arguments, timeout=3600)
        try:
            assert code == 0, output
            check_runs(shell, options.runs, options.backend)
        except AssertionError as error:
            print(f"{options.fault}: {rounds} rounds, {options.runs} runs: wrong: {error}")
            return 1
    seconds = f"{time.monotonic() - began:.0f} s"
    print(f"{options.fault}: {rounds} rounds, {options.runs} runs: all graded once, none lost; {seconds}")
    return 0


def on_vm(shell: Any, runs: int) -> list[str]:
    """What to run on this machine: an agent that submits the sample."""
    shell.root.chmod(0o755)
    shell.env["MLECORE_VM_STATE"] = f"{shell.root}/vm"
    (shell.root / "agent.sh").write_text("cp /opt/mlecore/sample.csv /home/submission/submission.csv; sleep 0.2\n")
    words = ["run", "--agent", "command", "-A", "argv=sh agent.sh", "--competition", "coins"]
    return [*words, "--seeds", str(runs), "--group", "g", "--time-limit", "60s"]


def killed(shell: Any, arguments: list[str], rounds: int, dice: random.Random) -> int:
    """Controllers one after the other, each killed between loading its plugins and being well at work."""
    for done in range(rounds):
        if not shell.kill_after(dice.uniform(0.2, 1.8), *arguments):
            return done
        report(done + 1)
    return rounds


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
            [sys.executable, "-c", before + COMMAND, *arguments],
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
    """A line for every 20 rounds."""
    if done % 20 == 0:
        print(f"{done} rounds", flush=True)


def check_runs(shell: Any, runs: int, backend: str) -> None:
    """Every run has one attempt and one grade, the right one, and each of its events was delivered."""
    from mlecore.runs.store import grade_of, load_group

    problems: list[str] = []
    records = load_group(shell.runs / "g", problems)
    assert not problems, problems
    assert len(records) == runs and Counter(record.state for record in records) == {"graded": runs}
    for record in records:
        assert record.gradings == 1 and record.ended == "finished", record
        assert len(record.attempts) == 1, record.attempts
        grade = grade_of(record.folder)
        score = 0.6 if backend == "vm" else 0.7 if record.seed % 2 else 0.3
        assert grade["run"] == record.uid and abs(grade["score"] - score) < 1e-9, grade
    jobs = shell.root / "vm" / "jobs" if backend == "vm" else shell.backend_root / "jobs"
    assert not list(jobs.glob("[!.]*")), f"jobs are left: {list(jobs.iterdir())}"
    if backend == "folders":
        starts = set((shell.backend_root / "starts.log").read_text().split())
        assert starts == {record.attempts[0].job for record in records}
    events_of = defaultdict(list)
    for line in shell.notes.read_text().splitlines():
        event = json.loads(line)
        if event["event"] not in events_of[event["run"]]:
            events_of[event["run"]].append(event["event"])
    assert len(events_of) == runs and all(events == ["started", "finished", "graded"] for events in events_of.values())


if __name__ == "__main__":
    sys.exit(main())
