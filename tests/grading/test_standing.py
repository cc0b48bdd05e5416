"""A score's place on the whole leaderboard."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from attrs import asdict

from mlecore.competitions import competition
from mlecore.grading.report import grade
from mlecore.grading.standing import standing


@pytest.mark.parametrize(
    ("score", "lower", "rank", "percentile"),
    [
        (0.95, False, 1, 100.0),
        (0.9, False, 1, 100.0),  # as good as the best shares its place
        (0.5, False, 3, 50.0),
        (0.1, False, 5, 0.0),
        (0.1, True, 1, 100.0),
        (0.9, True, 4, 25.0),
        (math.inf, False, 1, 100.0),
        (-math.inf, False, 5, 0.0),
    ],
)
def test_rank_and_percentile(score: float, lower: bool, rank: int, percentile: float) -> None:
    place = standing([0.9, 0.8, 0.5, 0.2], score, lower)
    assert place is not None and asdict(place) == {"rank": rank, "teams": 4, "percentile": percentile}


def test_no_place_without_a_score_or_a_leaderboard() -> None:
    assert standing([0.9], math.nan, False) is None
    assert standing([], 0.5, False) is None


def test_a_report_has_it_where_the_leaderboard_was_fetched(tiny: Path, tmp_path: Path) -> None:
    (tmp_path / "submission.csv").write_text("value\n0.6000001\n")
    without = grade(competition("tiny"), tmp_path / "submission.csv", tiny / "private")
    assert (without.rank, without.teams, without.percentile) == (None, None, None)
    (tiny.parent / "leaderboard.csv").write_text("score\n0.9\n0.6\n0.3\n")
    report = grade(competition("tiny"), tmp_path / "submission.csv", tiny / "private")
    assert (report.rank, report.teams) == (2, 3)  # rounded as for medals, it equals the second
    assert report.to_json()["percentile"] == pytest.approx(200 / 3)
    synthetic = grade(competition("tiny"), tmp_path / "submission.csv", tiny / "private", synthetic=True)
    assert synthetic.rank is None
