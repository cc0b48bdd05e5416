"""All competitions of the benchmark with three seeds each, while the controller is killed with SIGKILL on the way.

    python benchmarks/whole_benchmark.py [--seeds 3] [--kills 2] [--folder FOLDER] [--data DATA]

The command is ``mlecore run --agent baseline --all --synthetic --seeds 3``. Each time it is killed, it is given again
with the group's name. At the end every run must have been graded once, with a valid submission; the report follows.
``--folder`` keeps the runs, and continues with those that are there; ``--data`` uses and keeps prepared data.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path

from _measure import python, scratch

MLECORE = "from mlecore.cli import main; main()"
GROUP = "whole"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--kills", type=int, default=2, help="spread evenly over the runs")
    parser.add_argument("--folder", type=Path, help="for the runs")
    parser.add_argument("--data", type=Path, help="synthetic data, prepared where they are missing")
    options = parser.parse_args()
    with scratch() as folder:
        runs = (options.folder or folder / "runs").absolute()
        data = (options.data or folder / "data").absolute()
        began = time.monotonic()
        call("prepare", "--all", "--synthetic", "--data", data)
        print(f"prepared in {time.monotonic() - began:.0f} s", flush=True)
        began = time.monotonic()
        run_and_kill(runs, data, options.seeds, options.kills)
        print(f"ran in {time.monotonic() - began:.0f} s", flush=True)
        check_runs(runs)
        call("report", GROUP, "--runs", runs)


def call(*words: object) -> None:
    subprocess.run(python(MLECORE, *words), check=True)


def run_and_kill(runs: Path, data: Path, seeds: int, kills: int) -> None:
    """Give the command until it comes to its end; kill its process group whenever enough runs have been graded."""
    from mlecore.competitions import SPLITS, of_split

    planned = seeds * sum(len(of_split(split)) for split in SPLITS)
    words = ["run", "--agent", "baseline", "--all", "--synthetic", "--seeds", seeds]
    words += ["--group", GROUP, "--runs", runs, "--data", data]
    marks = [planned * (k + 1) // (kills + 1) for k in range(kills)]
    for mark in [mark for mark in marks if mark > graded(runs)]:
        controller = subprocess.Popen(python(MLECORE, *words), start_new_session=True)
        while graded(runs) < mark:
            assert controller.poll() is None, f"the controller ended with {controller.returncode}"
            time.sleep(0.5)
        os.killpg(controller.pid, signal.SIGKILL)
        controller.wait()
        print(f"SIGKILL with {graded(runs)} of {planned} runs graded", flush=True)
    call(*words)


def graded(runs: Path) -> int:
    return sum(1 for _ in (runs / GROUP).glob("*/grade.json"))


def check_runs(runs: Path) -> None:
    """Every run was graded once, with a valid submission."""
    from mlecore.competitions import competition
    from mlecore.runs.store import grade_of, load_group

    problems: list[str] = []
    records = load_group(runs / GROUP, problems)
    assert not problems, problems
    grades = {record.name: grade_of(record.folder) or {} for record in records}
    bad = {record.name: record.state for record in records if record.state != "graded"}
    bad |= {name: grade.get("status") for name, grade in grades.items() if grade.get("status") != "graded"}
    assert not bad, bad
    assert all(record.gradings == 1 for record in records), "a run was graded twice"
    splits = Counter(competition(record.competition).facts.split for record in records)
    again = sum(len(record.attempts) - 1 for record in records)
    by_split = ", ".join(f"{split} {count}" for split, count in splits.items())
    print(f"{len(records)} runs ({by_split}): each graded once, none invalid; {again} repeated attempts")


if __name__ == "__main__":
    main()
