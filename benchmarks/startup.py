"""What each command takes where the work itself is little, compared with its limit: seconds beside `import click` or
`import pandas`.

    .venv/bin/python benchmarks/startup.py
    .venv/bin/python benchmarks/startup.py --rounds 3

Lists show the plugins that are installed here. `prepare` and `grade` work on a table of 1 MB of the competition
spaceship-titanic, with their worker processes. Prints the best CPU and wall-clock seconds of all rounds, and both as
parts of the limit; above 1, a command is too slow.
"""

from __future__ import annotations

import argparse
import json
import os
from functools import partial
from pathlib import Path

from _measure import python, rounds, run, scratch
from attrs import evolve

MAIN = "from mlecore.cli import main; main()"
QUIET = f"import os; os.dup2(os.open(os.devnull, os.O_WRONLY), 2); {MAIN}"  # made-up data are not as published
COMPETITION = "spaceship-titanic"
SIZE = 14  # of synthetic data: a table of 1 MB
BASES = {"import click": python("import click"), "import pandas": python("import pandas")}
LIMITS = {  # times a base, plus seconds
    "--help": ("import click", 1.2, 0.1),
    "plugins list": ("import click", 1.0, 0.5),
    "competitions list": ("import click", 1.0, 0.5),
    "prepare": ("import pandas", 1.0, 0.3),
    "grade": ("import pandas", 1.0, 0.3),
    "runs list": ("import click", 0.0, 0.5),
    "runs list many": ("import click", 0.0, 1.0),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--runs", type=int, default=1_000)
    args = parser.parse_args()
    with scratch() as folder:
        os.environ["MLECORE_DATA"] = str(folder / "data")
        os.environ["MLECORE_RUNS"] = str(folder / "runs")
        raw = create_raw(folder / "raw")
        settle(folder / "runs", args.runs)
        words = {name: name.split() for name in LIMITS}
        words["prepare"] = ["prepare", COMPETITION, "--raw", str(raw), "--force"]
        run(python(QUIET, *words["prepare"]))
        prepared = folder / "data" / COMPETITION / "prepared"
        words["grade"] = ["grade", str(prepared / "public" / "sample_submission.csv"), COMPETITION]
        steps = BASES | {name: python(QUIET, *words[name]) for name in LIMITS}
        measured = rounds({name: partial(run, argv) for name, argv in steps.items()}, args.rounds)
    print(f"{'':18}  {'CPU s':>6}  {'wall s':>6}  CPU / limit  wall / limit")
    for name, m in measured.items():
        line = f"{name:18}  {m.cpu:6.3f}  {m.seconds:6.3f}"
        if name in LIMITS:
            base, times, plus = LIMITS[name]
            cpu, wall = (times * value + plus for value in (measured[base].cpu, measured[base].seconds))
            line += f"  {m.cpu / cpu:11.2f}  {m.seconds / wall:12.2f}"
        print(line)


def create_raw(folder: Path) -> Path:
    import mlecore

    mlecore.competition(COMPETITION).make_raw(folder, size=SIZE)
    return folder


def settle(runs: Path, count: int) -> None:
    """A group of runs that are graded."""
    from mlecore.model.record import Attempt
    from mlecore.runs.digests import with_digests
    from mlecore.runs.folders import RECORD
    from mlecore.runs.planning import make_plan
    from mlecore.runs.store import create_group, planned_records

    plan = make_plan({"agents": [{"name": "dummy"}], "competitions": [COMPETITION], "seeds": count})
    for record in planned_records(create_group(runs, "many", plan)):
        attempt = Attempt(
            number=1,
            job=f"mle-{record.uid}-1",
            started_at="2026-01-01T00:00:00+00:00",
            ended_at="2026-01-01T00:01:00+00:00",
            seconds=60.0,
            exit_code=0,
            ended="finished",
        )
        record.folder.mkdir()
        grade = {"competition_id": COMPETITION, "status": "graded", "score": 0.5, "score_text": "0.5"}
        (record.folder / "grade.json").write_text(json.dumps(grade))
        settled = evolve(record, state="graded", ended="finished", seconds=60.0, attempts=(attempt,))
        (record.folder / RECORD).write_bytes(with_digests(settled).dumps())


if __name__ == "__main__":
    main()
