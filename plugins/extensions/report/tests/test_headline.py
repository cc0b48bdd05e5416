"""The sentence that people read first must be right: who, how often, against whom, and whether it may be chance."""

from __future__ import annotations

import re

import pytest
from mle_ext_report.document import leagues
from mle_ext_report.headline import facts, result, title, warnings
from mle_ext_report.html import page
from mle_ext_report.sections import sections
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
    assert result(document) == (
        "baseline earns a medal on 25.0 % of 8 competitions. Expect 7.1 to 59.1 % on other competitions like these."
    )
    assert dict(facts(document))["Graded runs"] == "8" and list(warnings(document)) == []


@pytest.mark.parametrize("turned", [False, True])
def test_the_better_of_two_is_named_whatever_their_order(graded, turned: bool) -> None:
    sides = [agent(graded, "good", 8), agent(graded, "bad", 0)]
    items = [item for side in (reversed(sides) if turned else sides) for item in side]
    assert result(summarise(items)) == (
        "baseline (good) earns a medal on all 8 competitions, baseline (bad) on none. baseline (good) scores better "
        "than baseline (bad) on 8 of 8 competitions, worse on none. The difference in their medal rates is unlikely to "
        "be chance."
    )


def test_what_may_be_chance_is_said(graded) -> None:
    said = result(summarise([*agent(graded, "a", 2), *agent(graded, "b", 1)]))
    assert said.endswith("may be chance: there are too few competitions to tell.")


def test_words_for_everybody_have_no_p(graded) -> None:
    said = result(summarise([*agent(graded, "a", 8), *agent(graded, "b", 0), *agent(graded, "c", 1)]))
    assert "baseline (a) earns" in said and "baseline (c) on 12.5 %" in said and "unlikely to be chance" in said
    assert "Holm" not in said and "interval" not in said


def test_setups_that_share_the_highest_rate(graded) -> None:
    said = result(summarise([*agent(graded, "a", 4), *agent(graded, "b", 4), *agent(graded, "c", 4)]))
    assert said == (
        "baseline (a), baseline (b) and baseline (c) share the highest rate: each earns a medal on 50.0 % of 8 "
        "competitions."
    )
    said = result(summarise([*agent(graded, "a", 4), *agent(graded, "b", 4), *agent(graded, "c", 1)]))
    assert said.startswith("Of 3 setups, baseline (a) and baseline (b) share the highest rate: each")


def test_without_a_rate_pairs_are_still_compared(graded) -> None:
    missing = [graded("c9", model=model, state="failed", made=None) for model in ("a", "b")]
    said = result(summarise([*agent(graded, "a", 8), *agent(graded, "b", 0), *missing]))
    assert said.startswith(
        "There is no rate over all planned competitions, as 2 of 18 planned runs have no result; --pad-missing"
    )
    assert "baseline (a) scores better than baseline (b) on 8 of 8 competitions" in said


def test_what_does_not_compare_is_warned_of(graded) -> None:
    document = summarise([*agent(graded, "a", 1, ids=IDS[4:]), *agent(graded, "b", 1, ids=IDS[:4])])
    (words,) = warnings(document)
    assert "different competitions" in words
    unlike = [graded(seed=0), graded(seed=1, data_digest="other")]
    assert list(warnings(summarise(unlike))) == [
        "Conditions differ between runs of A, so they are not averaged. Report on one kind of them, or average anyway "
        "with --mix."
    ]


def test_data_of_two_kinds_are_one_setup(graded, without_thresholds) -> None:
    """Its medal rate leaves out the competitions that cannot earn one, and says so."""
    other = graded("c9", data_kind="synthetic", model="m", made=without_thresholds(0.6))
    document = summarise([*agent(graded, "m", 2), other])
    assert result(document).startswith(
        "baseline earns a medal on 25.0 % of 8 competitions (8 of 9: c9 awards no medals)"
    )
    assert dict(facts(document))["Data"] == "published, synthetic" and document.comparisons == ()
    table = next(section for section in sections(document) if section.id == "results")
    assert [row[1] for row in table.rows] == ["published"] * 8 + ["synthetic"]


def test_one_competition_on_two_kinds_of_data_is_two_setups_that_never_meet(graded, without_thresholds) -> None:
    synthetic = [graded(id, data_kind="synthetic", model="m", made=without_thresholds(0.6), group="s") for id in IDS]
    document = summarise([*synthetic, *agent(graded, "m", 2)], mix=True)
    assert [setup.name for setup in document.setups] == ["baseline (synthetic)", "baseline (published)"]
    assert document.comparisons == () and [len(league) for league in leagues(document.setups)] == [1, 1]
    said = result(document)
    assert said.startswith("baseline (published) earns a medal on 25.0 %") and "baseline (synthetic) beats" in said


def test_a_score_equal_to_the_sample_is_the_same_as_the_sample(graded, without_thresholds) -> None:
    """A third is rounded in files, which must not make it better or worse."""
    made = without_thresholds(0.33333, score_text=repr(1 / 3), sample_score=1 / 3, beats_sample=False)
    document = summarise([graded(data_kind="synthetic", made=made)])
    text = page(document)
    assert "0.33333, the same as the sample" in text
    (dot,) = re.findall(r'<circle class="series-0" cx="([\d.]+)"', text)
    assert f'd="M{dot} 1V' in text, "its dot is on the sample's mark"
