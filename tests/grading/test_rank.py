"""The rank of a score on the whole leaderboard."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from attrs import asdict, evolve

from mlecore import competition
from mlecore.data.prepared import Prepared
from mlecore.errors import PluginError
from mlecore.grading.rank import rank_of, read_leaderboard
from mlecore.grading.report import grade


@pytest.mark.parametrize(
    ("score", "lower", "rank", "percentile"),
    [
        (0.95, False, 1, 100.0),
        (0.9, False, 1, 100.0),  # as good as the best shares its rank
        (0.5, False, 3, 50.0),
        (0.1, False, 5, 0.0),
        (0.1, True, 1, 100.0),
        (0.9, True, 4, 25.0),
        (math.inf, False, 1, 100.0),
        (-math.inf, False, 5, 0.0),
    ],
)
def test_rank_and_percentile(score: float, lower: bool, rank: int, percentile: float) -> None:
    found = rank_of(score, [0.9, 0.8, 0.5, 0.2], lower)
    best = 0.2 if lower else 0.9
    assert found is not None
    assert asdict(found) == {"rank": rank, "teams": 4, "percentile": percentile, "best_human": best}


def test_no_rank_without_a_score_or_a_leaderboard() -> None:
    assert rank_of(math.nan, [0.9], False) is None
    assert rank_of(0.5, [], False) is None


def test_leaderboard_file(tmp_path: Path) -> None:
    (tmp_path / "leaderboard.csv").write_text("team,Score\na,0.5\nb,\nc,0.75\n")
    assert read_leaderboard(tmp_path / "leaderboard.csv") == [0.5, 0.75]
    (tmp_path / "leaderboard.csv").write_text("team,points\na,1\n")
    with pytest.raises(PluginError, match="no column 'score'"):
        read_leaderboard(tmp_path / "leaderboard.csv")


def test_a_report_has_it_where_the_leaderboard_was_fetched(tiny: Prepared, tmp_path: Path) -> None:
    (tmp_path / "submission.csv").write_text("value\n0.6000001\n")
    without = grade(competition("tiny"), tmp_path / "submission.csv", tiny)
    assert (without.rank, without.teams, without.percentile) == (None, None, None)
    (tmp_path / "scores.csv").write_text("score\n0.9\n0.6\n0.3\n")
    fetched = evolve(tiny, leaderboard=tmp_path / "scores.csv")
    report = grade(competition("tiny"), tmp_path / "submission.csv", fetched)
    assert (report.rank, report.teams) == (2, 3)  # rounded as for medals, it equals the second
    assert report.to_json()["percentile"] == pytest.approx(200 / 3)
    synthetic = grade(competition("tiny"), tmp_path / "submission.csv", evolve(fetched, synthetic=True))
    assert synthetic.rank is None
