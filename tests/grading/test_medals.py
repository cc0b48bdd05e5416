"""Medal rules and what follows from a score."""

import math
from pathlib import Path

import pytest
from attrs import evolve

from mlecore.grading.medals import medal_places, thresholds_for, thresholds_of
from mlecore.grading.report import award
from mlecore.model.facts import Thresholds
from mlecore_testing.facts import some_facts

FACTS = some_facts(direction="maximize", thresholds=Thresholds(gold=0.9, silver=0.8, bronze=0.7, median=0.5))


@pytest.mark.parametrize(
    ("teams", "places"),
    [
        (1, (1, 1, 1)),
        (50, (5, 10, 20)),
        (99, (9, 19, 39)),
        (100, (10, 20, 40)),
        (249, (10, 49, 99)),
        (250, (10, 50, 100)),
        (999, (11, 50, 100)),
        (1000, (12, 50, 100)),
        (5000, (20, 250, 500)),
    ],
)
def test_places(teams: int, places: tuple[int, int, int]) -> None:
    assert medal_places(teams) == places


def test_thresholds_of_a_leaderboard() -> None:
    scores = [i / 100 for i in range(100)]
    assert thresholds_of(scores, lower_is_better=False) == Thresholds(gold=0.90, silver=0.80, bronze=0.60, median=0.495)
    assert thresholds_of(scores, lower_is_better=True).gold == 0.09


def test_thresholds_follow_from_the_leaderboard_that_a_competition_brings(tmp_path: Path) -> None:
    (tmp_path / "leaderboard.csv").write_text("team,Score\na,0.5\nb,\nc,0.75\n")
    found = thresholds_for(evolve(FACTS, thresholds=None, folder=tmp_path))
    assert found is not None and found.gold == 0.75


@pytest.mark.parametrize(
    ("score", "medal", "above"),
    [
        (0.9, "gold", True),
        (0.899996, "gold", True),  # 0.90000 after five decimals
        (0.89999, "silver", True),
        (0.8, "silver", True),
        (0.7, "bronze", True),
        (0.69, None, True),
        (0.5, None, False),  # the median must be beaten
        (math.nan, None, False),
        (math.inf, "gold", True),
        (-math.inf, None, False),
    ],
)
def test_award_higher(score: float, medal: str | None, above: bool) -> None:
    found = award(FACTS, score, FACTS.thresholds)
    assert [m for m in ("gold", "silver", "bronze") if found[f"{m}_medal"]] == ([medal] if medal else [])
    assert found["any_medal"] is bool(medal)
    assert found["above_median"] is above


def test_award_lower_and_without_medals() -> None:
    lower = evolve(FACTS, direction="minimize", thresholds=Thresholds(gold=0.1, silver=0.2, bronze=0.3, median=0.5))
    assert award(lower, 0.2, lower.thresholds)["silver_medal"]
    assert award(lower, 0.1000049, lower.thresholds)["gold_medal"]
    assert not award(lower, 0.5, lower.thresholds)["above_median"]
    assert award(lower, -math.inf, lower.thresholds)["gold_medal"]
    assert not award(lower, 0.0, None)["any_medal"]
