"""The sentence that people read first must be right: who, how often, against whom, and whether it may be chance."""

from __future__ import annotations

import pytest
from mle_ext_report.headline import facts, result, title, warnings
from mle_ext_report.summary import summarise

IDS = [f"c{number}" for number in range(8)]


def agent(graded, name: str, medals: int, ids=IDS, **changes):
    """It earns a medal, with a higher score, on the first of the competitions."""
    return [
        graded(id, model=name, score=0.9 if n < medals else 0.6, medal="gold" if n < medals else None, **changes)
        for n, id in enumerate(ids)
    ]


def test_one_setup(graded) -> None:
    document = summarise(agent(graded, "m", 2))
    assert title(document) == "baseline on 8 competitions"
    assert result(document) == "baseline earns a medal on 25.0 % of 8 competitions (95 % interval 7.1 to 59.1)."
    assert dict(facts(document))["Graded runs"] == "8" and list(warnings(document)) == []


@pytest.mark.parametrize("turned", [False, True])
def test_the_better_of_two_is_named_whatever_their_order(graded, turned: bool) -> None:
    sides = [agent(graded, "good", 8), agent(graded, "bad", 0)]
    items = [item for side in (reversed(sides) if turned else sides) for item in side]
    best, other = ("B", "A") if turned else ("A", "B")
    said = result(summarise(items))
    assert said.startswith(f"baseline, good ({best}) earns a medal on 100.0 % of 8 competitions (95 % interval ")
    assert f"It scores better than baseline, bad ({other}) on 8 of 8 competitions and worse on none;" in said
    assert "the difference in medal rate is +100.0 points (95 % interval " in said
    low, high = said.split("interval ")[2].split(",")[0].split(" to ")
    assert 0 < float(low) <= 100 == float(high) and "p 0.0078)" in said and "chance" not in said


def test_what_may_be_chance_is_said(graded) -> None:
    assert result(summarise([*agent(graded, "a", 2), *agent(graded, "b", 1)])).endswith("which may be chance.")


def test_with_several_pairs_p_is_corrected(graded) -> None:
    said = result(summarise([*agent(graded, "a", 8), *agent(graded, "b", 0), *agent(graded, "c", 1)]))
    assert said.startswith("Of 3 setups, baseline, a (A) earns")
    assert "than baseline, c (C) on 7 of" in said and "p 0.0312, corrected for all pairs by Holm)" in said


def test_setups_that_share_the_highest_rate(graded) -> None:
    said = result(summarise([*agent(graded, "a", 4), *agent(graded, "b", 4), *agent(graded, "c", 4)]))
    assert said == "A, B and C share the highest rate: each earns a medal on 50.0 % of 8 competitions."
    said = result(summarise([*agent(graded, "a", 4), *agent(graded, "b", 4), *agent(graded, "c", 1)]))
    assert said.startswith("Of 3 setups, baseline, a (A) and baseline, b (B) share the highest rate: each")


def test_without_a_rate_pairs_are_still_compared(graded) -> None:
    missing = [graded("c9", model=model, state="failed", made=None) for model in ("a", "b")]
    said = result(summarise([*agent(graded, "a", 8), *agent(graded, "b", 0), *missing]))
    assert said.startswith(
        "There is no rate over all planned competitions, as 2 of 18 planned runs have no result; --pad-missing"
    )
    assert "baseline, a (A) scores better than baseline, b (B) on 8 of 8 competitions" in said


def test_what_does_not_compare_is_warned_of(graded, without_thresholds) -> None:
    synthetic = [graded(id, data_kind="synthetic", made=without_thresholds(0.6)) for id in IDS]
    document = summarise([*synthetic, *agent(graded, "m", 1, ids=IDS[:4])])
    first, second = warnings(document)
    assert first.startswith("A: No medals: synthetic data") and "different competitions" in second
    assert dict(facts(document))["Data"] == "synthetic, published"
    unlike = [graded(seed=0), graded(seed=1, data_digest="other")]
    assert list(warnings(summarise(unlike))) == [
        "Conditions differ between runs of A, so they are not averaged. Report on one kind of them, or average anyway "
        "with --mix."
    ]
