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
from mlecore.model.report import Report


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


def test_a_report_has_the_percentiles_of_what_it_is_compared_with(tiny: Prepared, tmp_path: Path) -> None:
    """Those of the thresholds (0.9, 0.8, 0.7, 0.5) and of the sample submission (0.1): of an invalid one, too."""
    scores = [0.95, 0.9, 0.9, 0.8, 0.7, 0.6, 0.5, 0.3, 0.1, 0.1, 0.05]
    (tmp_path / "scores.csv").write_text("\n".join(["score", *map(str, scores)]) + "\n")
    fetched = evolve(tiny, leaderboard=tmp_path / "scores.csv")

    def not_better(threshold: float) -> float:
        return pytest.approx(100 * sum(score <= threshold for score in scores) / len(scores))  # type: ignore[no-any-return]

    limits = {"gold": 0.9, "silver": 0.8, "bronze": 0.7, "median": 0.5}
    for words in ("value\n0.6\n", "no submission\n"):
        (tmp_path / "submission.csv").write_text(words)
        report = grade(competition("tiny"), tmp_path / "submission.csv", fetched)
        assert report.threshold_percentiles == {name: not_better(value) for name, value in limits.items()}
        assert report.sample_percentile == not_better(0.1)
        assert (report.percentile is None) == (report.status == "invalid")
        assert Report.from_json(report.to_json()) == report
    undefined = grade(competition("tiny"), None, fetched, (report.plugin_source, math.nan))
    assert undefined.sample_percentile == 0  # nobody is worse than a score that is not defined
    without = grade(competition("tiny"), tmp_path / "submission.csv", tiny)
    assert without.threshold_percentiles is None and without.sample_percentile is None
