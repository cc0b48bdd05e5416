"""Grading again finds whatever an author changed in a grade or a record, though all digests are computed again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve, fields
from mle_ext_sharing.regrade import Regraded, regrade

from mlecore.data.layout import DataDirs
from mlecore.data.manifest import read_head, write_head
from mlecore.data.opening import open_prepared
from mlecore.grading.report import grade
from mlecore.model.report import Report
from mlecore.plugins.competitions import competition
from mlecore_testing.graded_groups import COMPETITION, forge, prepare_published, write_graded_group

OTHERWISE = {"created_at", "submission_path", "run", "began_with", "plugin", "extra"}
"""Fields that differ between two honest gradings, and on which nothing rests."""

SCORES = {"gold": 0.9, "silver": 0.8, "bronze": 0.7, "median": 0.5}
OTHER = {
    "score_text": "0.99",
    "status": "invalid",
    "comparability": "near",
    "data_kind": "no_leaderboard",
    "reference": {**SCORES, "agents": ["baseline 0.1.0"], "seeds": 5, "date": "2026-11-28", "data": "0" * 64},
    "reference_place": "gold",
    "threshold_percentiles": dict.fromkeys(("gold", "silver", "bronze", "median"), 50.0),
}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    prepare_published(folder)
    return folder


def again(group: Path, data: Path) -> list[Regraded]:
    return sorted(regrade(group, DataDirs((data,))).runs, key=lambda each: int(each.run.rpartition("-")[2]))


def runs_of(group: Path) -> list[Path]:
    return sorted(group.glob("*--*"), key=lambda run: int(run.name.rpartition("-")[2]))


def other(name: str, value: Any) -> Any:
    """Another value of the same type, that JSON and the schema take."""
    if isinstance(value, bool):
        return not value
    return OTHER.get(name) or (f"{value}1" if isinstance(value, str) else value + 1)


@pytest.mark.slow
def test_every_field_of_a_report_is_compared(tmp_path: Path, data: Path) -> None:
    """Also those that a later version adds: one forged run for each."""
    emptied = ["sample_score", "beats_sample"]
    names = [each.name for each in fields(Report) if each.name not in OTHERWISE] + emptied
    group = write_graded_group(tmp_path, "g", data, seeds=1 + len(names))
    honest, *forged = runs_of(group)
    for place, (name, run) in enumerate(zip(names, forged, strict=True), start=1):
        value = json.loads((run / "grade.json").read_text())[name]
        forge(run, grade={name: None if place > len(names) - len(emptied) else other(name, value)})
    first, *found = again(group, data)
    assert (first.run, first.different, first.undecided) == (honest.name, (), "")
    for name, changed in zip(names, found, strict=True):
        if name == "plugin_source":
            assert "another plugin" in changed.undecided
        else:
            assert [line.partition(":")[0] for line in changed.different] == [name], (name, changed)


@pytest.mark.slow
def test_records_of_other_data_are_undecided(tmp_path: Path, data: Path) -> None:
    grader = {"name": COMPETITION, "version": "0.1.0", "distribution": f"mle-comp-{COMPETITION}", "source": "0" * 64}
    changes: list[tuple[dict[str, Any], str]] = [
        ({}, ""),
        ({"answers_digest": "0" * 64}, "answers"),
        ({"data_digest": "0" * 64}, "public data"),
        ({"description_digest": "0" * 64}, "description"),
        ({"answers_digest": None}, "answers"),
        ({"data_digest": None}, "public data"),
        ({"description_digest": None}, "description"),
        ({"edition": "v2"}, "not prepared"),
        ({"edition": "v9"}, "no edition"),
        ({"data_kind": None}, "kind of data"),
        ({"data_kind": "unverified"}, "unverified"),
        ({"plugins": [grader]}, "another plugin"),
        ({"competition": "no-such-competition"}, "no-such-competition"),
    ]
    group = write_graded_group(tmp_path, "g", data, seeds=len(changes))
    for run, (record, _) in zip(runs_of(group), changes, strict=True):
        forge(run, record=record)
    for each, (record, words) in zip(again(group, data), changes, strict=True):
        assert not each.different and words in each.undecided and bool(words) == bool(each.undecided), (record, each)


@pytest.mark.slow
def test_only_verified_data_are_published(tmp_path: Path, data: Path) -> None:
    """Neither the author's word nor a copy that nobody verified makes them so."""
    group = write_graded_group(tmp_path, "g", data)
    practice, collected = runs_of(group)
    forge(practice, record={"data_kind": "no_leaderboard"})
    forge(collected, record={"state": "collected"}, grade={"score": 1.0, "score_text": "1.0"})
    first, second = again(group, data)
    assert "data_kind in run.json" in first.different[0] and second.different  # it has a grade, and so it counts
    root = data / COMPETITION / "prepared"
    head = read_head(root)
    assert head is not None
    write_head(root, evolve(head, verified=False))
    try:
        assert all("unverified here" in each.undecided for each in again(group, data))
    finally:
        write_head(root, head)


@pytest.mark.slow
def test_without_the_leaderboard_ranks_and_percentiles_are_undecided(tmp_path: Path, data: Path) -> None:
    """A run without a valid submission has the thresholds' percentiles, too; but it has no rank, whoever graded it."""
    group = write_graded_group(tmp_path, "g", data, seeds=3)
    valid, *invalid = runs_of(group)
    for run, rank in zip(invalid, (None, 1), strict=True):
        submission = run / "submission" / "submission.csv"
        submission.write_text("no submission\n")
        made = grade(competition(COMPETITION), submission, open_prepared(competition(COMPETITION), DataDirs((data,))))
        assert made.status == "invalid" and made.threshold_percentiles and made.sample_percentile is not None
        forge(run, grade={**made.to_json(), "rank": rank})
    leaderboard = data / COMPETITION / "leaderboard.csv"
    leaderboard.rename(tmp_path / "away.csv")
    try:
        honest, without, forged = again(group, data)
    finally:
        (tmp_path / "away.csv").rename(leaderboard)
    assert (honest.run, honest.different) == (valid.name, ()) and "percentile: " in honest.undecided
    assert not without.different and "threshold_percentiles: " in without.undecided
    assert [line.partition(":")[0] for line in forged.different] == ["rank"]
