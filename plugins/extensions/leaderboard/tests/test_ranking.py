"""Rates, intervals and ranks against what is known of them."""

from __future__ import annotations

import json
import random
import statistics
from pathlib import Path

import pytest
from mle_ext_leaderboard.ranking import rank_entries
from mle_ext_leaderboard.results import results_of
from mle_ext_report.statistics import rate_interval

from mlecore.runs.store import load_group
from mlecore_testing.drawn_groups import write_group


def entry(shares: list[int], of: int = 3) -> dict[str, tuple[int, int]]:
    return {f"c{number:02d}": (wins, of) for number, wins in enumerate(shares)}


def test_an_interval_is_that_of_a_plain_bootstrap() -> None:
    """Drawn again with another generator, one competition at a time."""
    draw = random.Random(1)
    shares = [draw.randrange(4) for _ in range(22)]
    (found,) = rank_entries([entry(shares)])
    means = sorted(statistics.fmean(draw.choices(shares, k=22)) / 3 * 100 for _ in range(20_000))
    assert found.rate == pytest.approx(statistics.fmean(shares) / 3 * 100)
    assert found.interval is not None
    assert found.interval[0] == pytest.approx(means[500], abs=2) and found.interval[1] == pytest.approx(
        means[19_500], abs=2
    )


def test_competitions_are_resampled_and_not_runs() -> None:
    """Three seeds that end alike tell no more than one."""
    shares = [1, 0] * 11
    one, three = (rank_entries([entry([of * share for share in shares], of)])[0] for of in (1, 3))
    assert one.interval == pytest.approx(three.interval)


def test_what_does_not_vary_has_wilsons_interval() -> None:
    (found,) = rank_entries([entry([3] * 22)])
    assert found.interval == pytest.approx(rate_interval(entry([3] * 22))) and found.interval[0] < 95
    (single,) = rank_entries([{"c": (1, 3)}])
    assert single.interval is None


def test_ranks() -> None:
    low, high, same = [0] * 20 + [3, 3], [3] * 20 + [0, 0], [0] * 20 + [3, 3]
    found = rank_entries([entry(low), entry(high), entry(same)])
    assert [each.rank for each in found] == [2, 1, 2]
    assert found[1].ranks == (1, 1) and found[1].like == ()
    assert found[0].ranks == (2, 2) and found[0].like == (2,) and found[2].like == (0,)


def test_entries_that_differ_on_few_competitions_are_alike() -> None:
    """A pair is compared on the same draws: what both share does not blur the difference."""
    base = [3, 0] * 11
    better = [3, 1] * 11
    first, second = rank_entries([entry(base), entry(better)])
    assert first.like == () and second.ranks == (1, 1)  # better on each draw, although the intervals overlap
    assert first.interval[1] > second.interval[0]
    noisy = rank_entries([entry(base), entry([0, 3] * 10 + [3, 3])])
    assert noisy[0].like == (1,) and noisy[0].ranks == (1, 2)


def test_reference_scores_are_no_medals(tmp_path: Path) -> None:
    group = write_group(tmp_path, "g", medals=False, competitions=("leaf-classification", "spaceship-titanic"), seeds=2)
    scores = {"gold": 0.9, "silver": 0.8, "bronze": 0.7, "median": 0.5}
    known = {**scores, "agents": ["baseline 0.1.0"], "seeds": 3, "date": "2026-11-28", "data": "x"}
    for path in group.glob("*/grade.json"):
        path.write_text(json.dumps({**json.loads(path.read_text()), "reference": known, "reference_place": "gold"}))
    assert all(run.report and run.report.reference_place == "gold" for run in load_group(group))
    runs = results_of(group, "").runs
    assert len(runs) == 4 and not any(run.medal or run.ranked for run in runs)
