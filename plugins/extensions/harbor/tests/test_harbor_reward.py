"""The reward of a report."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from mle_ext_harbor.reward import KINDS, RewardKind, best_score, reward

import mlecore
from mlecore.data.prepared import Prepared
from mlecore.model.facts import Reference
from mlecore.model.report import Report
from mlecore_testing import grades

ID = "spaceship-titanic"
LOSS = {"is_lower_better": True, "sample_score": 4.0, "gold_threshold": 2.0}
GAIN = {"is_lower_better": False, "sample_score": 0.5, "gold_threshold": 0.9}
NO_MEDALS: dict[str, Any] = {"data_kind": "synthetic", "gold_threshold": None}
REFERENCE = Reference(gold=0.7, silver=0.6, bronze=0.5, median=0.4, agents=("baseline",), seeds=1, date="", data="")


THRESHOLDS = ("gold_threshold", "silver_threshold", "bronze_threshold", "median_threshold")


def report(score: float | None, **values: Any) -> Report:
    """Without thresholds and a score of the sample submission, unless they are given."""
    made = grades.report(score, above_median=False, sample_score=None, beats_sample=None, **dict.fromkeys(THRESHOLDS))
    made = evolve(made, score=score if score is not None and math.isfinite(score) else None)
    made = evolve(made, **values)
    if made.sample_score is None or score is None:
        return made
    better = score < made.sample_score if made.is_lower_better else score > made.sample_score
    return evolve(made, beats_sample=better)


@pytest.mark.parametrize(
    ("made", "kind", "expected"),
    [
        (report(3.0, **LOSS), "position", 0.5),
        (report(5.0, **LOSS), "position", 0.0),
        (report(1.0, **LOSS, any_medal=True), "position", 1.0),
        (report(0.6, **GAIN), "position", 0.25),
        (report(math.inf, **LOSS), "position", 0.0),
        (report(math.nan, **GAIN, percentile=80.0), "percentile", 0.0),
        (report(0.6, **GAIN), "medal", 0.0),
        (report(0.8, **GAIN, any_medal=True), "medal", 1.0),
        (report(0.6, **GAIN, percentile=37.5), "percentile", 0.375),
        (report(0.6, **GAIN), "percentile", 0.25),
        (report(0.6, **GAIN | NO_MEDALS), "medal", 1.0),
        (report(0.4, **GAIN | NO_MEDALS), "medal", 0.0),
        (report(0.6, **GAIN | NO_MEDALS), "position", 0.2),
        (report(0.6, **GAIN | NO_MEDALS, reference=REFERENCE), "position", 0.5),
        (report(0.3, is_lower_better=False), "position", 0.3),
    ],
)
def test_the_reward(made: Report, kind: RewardKind, expected: float) -> None:
    assert reward(made, kind, best=1.0) == pytest.approx(expected)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("axis", [LOSS, GAIN, LOSS | NO_MEDALS, GAIN | NO_MEDALS])
@pytest.mark.parametrize("best", [None, 1.0])
def test_a_better_score_never_earns_less(kind: RewardKind, axis: dict[str, Any], best: float | None) -> None:
    scores = [-math.inf, -1.0, 0.2, 0.5, 0.7, 0.9, 1.0, 2.0, 3.0, 4.0, 9.0, math.inf]
    found = [reward(report(score, **axis), kind, best) for score in scores]
    assert found == sorted(found, reverse=axis["is_lower_better"])
    assert min(found) == 0.0
    assert max(found) <= 1.0
    assert reward(report(None, **axis), kind, best) == 0.0


def test_on_synthetic_data_the_way_leads_to_a_perfect_score(prepared: Prepared, tmp_path: Path) -> None:
    target = mlecore.competition(ID)
    assert best_score(target, prepared) == 1.0
    perfect = target.perfect(prepared.private)
    perfect.loc[: len(perfect) // 2, "Transported"] = ~perfect.loc[: len(perfect) // 2, "Transported"]
    perfect.loc[: len(perfect) // 3, "Transported"] = ~perfect.loc[: len(perfect) // 3, "Transported"]
    perfect.to_csv(tmp_path / "some.csv", index=False)
    graded = mlecore.grade(target, tmp_path / "some.csv", prepared)
    assert graded.exact is not None
    assert graded.sample_score is not None
    expected = (graded.exact - graded.sample_score) / (1 - graded.sample_score)
    assert 0 < expected < 1
    assert reward(graded, "position", 1.0) == pytest.approx(expected)
    empty = tmp_path / "empty.csv"
    empty.write_text("PassengerId,Transported\n")
    assert reward(mlecore.grade(target, empty, prepared), "position", 1.0) == 0.0
