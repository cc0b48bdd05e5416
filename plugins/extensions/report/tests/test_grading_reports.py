"""MLE-bench's grading reports give the same numbers as the same results in groups of ours."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from attrs import evolve
from mle_ext_report.grading_reports import read_grading_reports
from mle_ext_report.sources import read_sources
from mle_ext_report.summary import summarise

from mlecore.errors import UsageError

PUBLISHED = (
    "competition_id score gold_threshold silver_threshold bronze_threshold median_threshold any_medal gold_medal "
    "silver_medal bronze_medal above_median submission_exists valid_submission is_lower_better created_at "
    "submission_path"
).split()


@pytest.fixture
def files(two_groups: Path, tmp_path: Path) -> list[Path]:
    """The group "good" as MLE-bench would have published it: one file per seed, its keys and no others."""
    paths = []
    for seed in range(3):
        grades = [json.loads(path.read_text()) for path in sorted(two_groups.glob(f"good/*--{seed}/grade.json"))]
        reports = [{key: grade[key] for key in PUBLISHED} for grade in grades]
        path = tmp_path / f"2025-0{seed + 1}_grading_report.json"
        path.write_text(json.dumps({"total_runs": len(reports), "competition_reports": reports}))
        paths.append(path)
    return paths


def test_the_same_rates(files, two_groups) -> None:
    (ours,) = summarise(read_sources(["good"], [], two_groups)).setups
    (theirs,) = summarise(read_sources([], files, two_groups)).setups
    for row, own in zip(theirs.rates, ours.rates, strict=True):  # the published files have no percentiles
        assert evolve(row.rates, rates={}) == evolve(own.rates, rates={})
        assert row.rates.rates == {**own.rates.rates, "percentile": None}
        assert row.intervals == {**own.intervals, "percentile": None}
    assert theirs.pass_at_k == ours.pass_at_k
    assert theirs.conditions["time limit"] == "unknown"


def test_an_incomplete_file(files) -> None:
    values = json.loads(files[1].read_text())
    values["competition_reports"] = [
        item for item in values["competition_reports"] if item["competition_id"] != "leaf-classification"
    ]
    files[1].write_text(json.dumps(values))
    low, medium = summarise(read_grading_reports(files)).setups[0].rates[:2]
    assert (low.rates.seeds, low.rates.incomplete) == (("0", "2"), {"1": 1})
    assert medium.rates.seeds == ("0", "1", "2")
    padded = summarise(read_grading_reports(files), pad_missing=True).setups[0].rates[0]
    assert padded.rates.seeds == ("0", "1", "2")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "is not JSON"),
        ("[]", "is not a grading report"),
        ('{"competition_reports": [3]}', "competition_reports[0] is not an object"),
        ('{"competition_reports": [{"competition_id": 3}]}', "competition_id = 3"),
        ('{"competition_reports": [{"competition_id": "a"}]}', "any_medal = None"),
        ("[" * 100_000, "nested too deep"),
    ],
)
def test_damaged_files(tmp_path, content, said) -> None:
    path = tmp_path / "report.json"
    path.write_text(content)
    with pytest.raises(UsageError, match=r"report\.json") as caught:
        read_grading_reports([path])
    assert said in str(caught.value)


def test_nan_is_a_score(files) -> None:
    values = json.loads(files[0].read_text())
    values["competition_reports"][0] |= {"score": float("nan"), "valid_submission": True, "submission_exists": True}
    files[0].write_text(json.dumps(values))
    found = read_grading_reports(files[:1])[0].report
    assert found is not None and (found.score, found.score_text, found.status) == (None, "nan", "graded")
