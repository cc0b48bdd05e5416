"""Groups whose records and grades are true, on data that stand for published ones; and forgeries of them."""

from __future__ import annotations

import csv
import hashlib
import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import evolve

from mlecore.data.layout import DataDirs
from mlecore.data.manifest import read_head, write_head
from mlecore.data.opening import open_prepared
from mlecore.data.preparing import prepare
from mlecore.data.sources import Synthetic
from mlecore.grading.report import grade
from mlecore.model.provenance import PluginUse, plugin_use
from mlecore.model.record import Collected, RunRecord
from mlecore.plugins.competitions import competition
from mlecore.runs.planning import parse_plan
from mlecore.runs.store import create_group, planned_records, read_record, write_record

from .drawn_groups import HARDWARE

COMPETITION = "spaceship-titanic"


def prepare_published(data: Path) -> None:
    """Synthetic data of COMPETITION in the place of the published ones, with a manifest that says so, and a human
    leaderboard."""
    made = prepare(competition(COMPETITION), DataDirs((data,)), Synthetic()).prepared
    root = data / COMPETITION / "prepared"
    shutil.copytree(made.root, root)
    head = read_head(root)
    assert head is not None
    write_head(root, evolve(head, source="kaggle", verified=True))
    (root.parent / "leaderboard.csv").write_text("score\n0.99\n0.85\n0.8\n0.5\n")


def write_graded_group(
    runs: Path, name: str, data: Path, *, agent: str = "baseline", right: float = 0.9, seeds: int = 2
) -> Path:
    """Finished runs of COMPETITION; ``right``: the share of answers that are right, a little less for each seed."""
    target = competition(COMPETITION)
    prepared = open_prepared(target, DataDirs((data,)))
    plan = parse_plan(f'competitions = ["{COMPETITION}"]\nseeds = {seeds}\n[[agents]]\nname = "{agent}"\n')
    group = create_group(runs, name, plan)
    for planned in planned_records(group):
        folder = group.folder / planned.name
        submission = folder / "submission" / "submission.csv"
        submission.parent.mkdir(parents=True)
        submission.write_text(_answers(prepared.private / "test.csv", right - 0.01 * planned.seed))
        report = evolve(
            grade(target, submission, prepared), run=planned.uid, submission_path="submission/submission.csv"
        )
        (folder / "grade.json").write_text(json.dumps(report.to_json()))
        write_record(
            evolve(
                planned,
                folder=folder,
                agent=PluginUse(name=agent, version="1.0", source="5" * 64),
                plugins=(plugin_use(target.plugin),),
                state="graded",
                ended="finished",
                seconds=600.0,
                hardware=HARDWARE,
                data_kind=prepared.kind(target.facts),
                data_digest=prepared.digest,
                answers_digest=prepared.private_digest,
                description_digest=hashlib.sha256(prepared.description(target.facts).encode()).hexdigest(),
                collected=Collected(files=1, bytes=1, candidate="submission/submission.csv"),
            )
        )
    return group.folder


def _answers(path: Path, right: float) -> str:
    with path.open(newline="") as file:
        rows = [(row["PassengerId"], row["Transported"] == "True") for row in csv.DictReader(file)]
    lines = [f"{id},{label == (place < right * len(rows))}" for place, (id, label) in enumerate(rows)]
    return "\n".join(["PassengerId,Transported", *lines]) + "\n"


def forge(run: Path, *, record: Mapping[str, Any] | None = None, grade: Mapping[str, Any] | None = None) -> None:
    """Edit keys of a run's run.json and grade.json, and compute all digests again, as its owner can."""
    path = run / "grade.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **(grade or {})}))
    values = {**read_record(run).to_json(), **(record or {}), "digests": None}
    write_record(RunRecord.from_json(values, run))
