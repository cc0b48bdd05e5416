"""The benchmark's own numbers."""

from __future__ import annotations

import pytest
from mle_ext_report.benchmark import split_ids
from mle_ext_report.rates import Outcome, all_rates, rate, split_rates

MEDAL = Outcome(any_medal=True, gold=True, above_median=True, valid=True, made=True)
NOTHING = Outcome()


def test_known_values() -> None:
    assert str(rate([0.40, 0.44, 0.48])) == "44.0 ± 2.3"
    assert round(rate([0.40, 0.44, 0.48]).sem, 2) == 2.31
    assert (rate([0.25]).mean, rate([0.25]).sem, str(rate([0.25]))) == (25.0, None, "25.0")  # one seed scatters nowhere


def seed(ids: tuple[str, ...], medals: int) -> dict[str, Outcome]:
    return {id: MEDAL if number < medals else NOTHING for number, id in enumerate(ids)}


def test_all_of_the_benchmark() -> None:
    ids = split_ids("all")
    assert [len(split_ids(split)) for split in ("lite", "medium", "high", "all", "dev")] == [22, 38, 15, 75, 7]
    rows = all_rates({str(n): seed(ids, medals) for n, medals in enumerate((30, 33, 36))})
    assert [row.split for row in rows] == ["Low", "Medium", "High", "All", "mle-bench-30"]  # "these" would be All again
    everything = rows[3].rates["any_medal"]
    assert everything is not None
    assert (everything.mean, round(everything.sem, 2)) == (pytest.approx(44.0), 2.31)


def test_a_seed_of_other_competitions_lacks_nothing() -> None:
    seeds = {"0": seed(split_ids("low"), 22), "1": seed(split_ids("high"), 0)}
    low = split_rates("Low", split_ids("low"), seeds, pad=True)
    assert (low.seeds, low.incomplete) == (("0",), {})


def test_medal_rates_leave_out_what_has_no_thresholds() -> None:
    unranked = Outcome(ranked=False, valid=True, made=True)
    (these,) = all_rates({"0": {"my-own": MEDAL, "optical-digits": unranked}})
    assert these.unranked == ("optical-digits",)
    assert (these.rates["any_medal"], these.rates["valid"]) == (rate([1.0]), rate([1.0]))
    low = split_rates("Low", split_ids("low"), {"0": dict.fromkeys(split_ids("low"), unranked)})
    assert (low.rates["any_medal"], low.rates["valid"]) == (None, rate([1.0]))


def test_medal_rates_of_v2_are_over_those_with_a_comparable_leaderboard() -> None:
    ids = split_ids("low")
    without = Outcome(ranked=False, valid=True, made=True)
    seeds = {
        "0": {**seed(ids, 11), "random-acts-of-pizza": without}
    }  # the last 11 earn nothing, this one is among them
    low, everything = all_rates(seeds, edition="v2")[:2]
    assert (low.rates["any_medal"], low.competitions) == (rate([11 / 21]), 22)
    assert low.left_out == "21 of 22: random-acts-of-pizza awards no medals"
    # those that nobody planned, too
    del seeds["0"]["random-acts-of-pizza"]
    padded = split_rates("Low", ids, seeds, pad=True, edition="v2")
    assert padded.rates["any_medal"] == rate([11 / 21]) and everything.unranked[0] == "random-acts-of-pizza"
