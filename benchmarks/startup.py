"""What each command takes where the work itself is little, compared with its limit: seconds beside `import click` or
`import pandas`.

    .venv/bin/python benchmarks/startup.py
    .venv/bin/python benchmarks/startup.py --rounds 3 --plugins 100

Lists show the plugins that are installed here, and as many more as ``--plugins`` says: distributions in a folder on
PYTHONPATH, most of them competitions as long as real ones, whose modules raise when they are imported. `prepare` and
`grade` work on a table of 1 MB of the competition spaceship-titanic, with their worker processes. Prints the best CPU
and wall-clock seconds of all rounds, and both as parts of the limit; above 1, a command is too slow.
"""

from __future__ import annotations

import argparse
import json
import os
from functools import partial
from importlib.util import find_spec
from itertools import cycle, islice
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
KINDS = (*["competition"] * 16, *["agent"] * 3, "detector")
README = "A line of a README, as distributions carry it in their metadata.\n" * 60
HOOKS = {
    "agent": ("agent()", "launch(task)"),
    "detector": ("detector()", "detect(run, group, options)"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--runs", type=int, default=1_000)
    parser.add_argument("--plugins", type=int, default=0)
    args = parser.parse_args()
    with scratch() as folder:
        os.environ["MLECORE_DATA"] = str(folder / "data")
        os.environ["MLECORE_RUNS"] = str(folder / "runs")
        os.environ["PYTHONPATH"] = str(folder / "site")
        install(folder / "site", args.plugins)
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


def install(site: Path, count: int) -> None:
    """Distributions of one module each, made of files alone."""
    site.mkdir()
    for number, kind in enumerate(islice(cycle(KINDS), count)):
        name, module = f"made-up-{kind}-{number}", f"bench_{kind}_{number}"
        package = site / module
        package.mkdir()
        if kind == "competition":
            source = real("__init__.py")
            facts = real("competition.toml").replace(f'id = "{COMPETITION}"', f'id = "{name}"')
            (package / "competition.toml").write_text(facts)
            (package / "description.md").write_text(real("description.md"))
        else:
            hooks = "".join(f"@hookimpl\ndef {hook}:\n    return None\n\n\n" for hook in HOOKS[kind])
            source = f"from mlecore.hookspecs import hookimpl\n\n\n{hooks}"
        (package / "__init__.py").write_text(f"{source}\n\nraise ImportError('{name} was imported')\n")
        info = site / f"{module}-1.0.dist-info"
        info.mkdir()
        head = f"Metadata-Version: 2.4\nName: {name}\nVersion: 1.0\nSummary: {name}\n"
        (info / "METADATA").write_text(f"{head}Requires-Dist: mlecore>=0.0.1\n\n{README}")
        (info / "entry_points.txt").write_text(f"[mlecore.{kind}s]\n{name} = {module}\n")


def real(file: str) -> str:
    """A file of a competition that is shipped."""
    spec = find_spec("mle_comp_spaceship_titanic")
    assert spec is not None and spec.origin is not None, "mle-comp-spaceship-titanic is not installed; make env"
    return Path(spec.origin).with_name(file).read_text(encoding="utf-8")


if __name__ == "__main__":
    main()
