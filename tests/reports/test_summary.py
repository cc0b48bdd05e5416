"""What a report says of runs of all sorts. Its figures are computed again in test_recomputed.py."""

from __future__ import annotations

import pytest

from mlecore.agents import Usage
from mlecore.reports.graded import Moment, ReportedFinding
from mlecore.reports.sources import read_sources
from mlecore.reports.summary import summarise
from mlecore.runs.provenance import PluginUse
from mlecore.runs.record import Limits


@pytest.fixture(scope="module")
def document(two_groups):
    return summarise(read_sources(["good", "bad"], [], two_groups))


def test_what_the_gateway_measured(graded) -> None:
    told, measured = Usage(input_tokens=5), Usage(input_tokens=7, measured=True)
    items = [graded(usage=told), graded(seed=1, usage=measured), graded(seed=2)]
    costs = {cost.what: cost for cost in summarise(items).setups[0].costs}
    assert (costs["input tokens"].total, costs["input tokens"].known, costs["input tokens"].measured) == (12, 2, 1)
    assert costs["hours"].measured is None and "output tokens" not in costs


def test_the_last_instant_is_the_result(document) -> None:
    instants = document.setups[0].progress
    assert [at.seconds for at in instants] == [3600, 7200, 4 * 3600, 8 * 3600, 16 * 3600, 24 * 3600]
    everything = document.setups[0].rates[-1].rates.rates
    assert instants[-1].any_medal == pytest.approx(everything["any_medal"].mean)
    assert instants[-1].valid == pytest.approx(everything["valid"].mean)
    assert instants[0].any_medal <= instants[-1].any_medal


def test_progress_takes_the_file_as_it_stood(graded) -> None:
    history = (
        Moment(seconds=1000.0, valid=True, score=0.6, medal=None),
        Moment(seconds=5000.0, valid=True, score=0.9, medal="gold"),
        Moment(seconds=6000.0, valid=False, score=None, medal=None),
    )
    item = graded(seconds=80_000.0, score=0.7, medal=None, history=history)
    at = summarise([item]).setups[0].progress
    assert [instant.any_medal for instant in at] == [0.0, 0.0, 0.0, 0.0, 0.0, 0.0]  # gold stood for 1000 s only
    assert [instant.valid for instant in at] == [100.0, 0.0, 0.0, 0.0, 0.0, 100.0]
    assert at[0].position == pytest.approx((0.6 - 0.5) / (0.9 - 0.5))


def test_flagged_runs_count_once_as_they_are_and_once_as_failures(graded) -> None:
    flag = (ReportedFinding(detector="d", rule="copied", verdict="violation", summary="it copied"),)
    items = [graded("a", medal="gold", suspicions=flag), graded("b", medal="gold")]
    (setup,) = summarise(items).setups
    (row,) = setup.rates
    assert row.rates.rates["gold"].mean == 100.0 and row.without_flagged["gold"].mean == 50.0
    assert setup.flagged == 1 and any("flagged 1 run:" in note for note in setup.notes)
    assert summarise([items[1]]).setups[0].rates[0].without_flagged is None


def test_unlike_runs_are_not_averaged_unasked(graded, run) -> None:
    items = [graded(seed=0), graded(seed=1, data_digest="other")]
    (refused,) = summarise(items).setups
    assert not refused.averaged and refused.rates == () and list(refused.differences) == ["data of spaceship-titanic"]
    assert summarise(items, mix=True).setups[0].rates[0].rates.rates["valid"].mean == 100.0


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"limits": Limits(time=60.0)}, "time limit"),
        ({"limits": Limits(cpus=2.0)}, "CPUs"),
        ({"limits": Limits(network="open")}, "network"),
        ({"hardware": {"cpus": 8, "gpus": [{"name": "A10"}]}}, "hardware class"),
        ({"description_digest": "other"}, "description of spaceship-titanic"),
        ({"image_digest": "sha256:other"}, "image"),
        ({"backend": PluginUse(name="docker")}, "backend"),
    ],
)
def test_each_condition_is_held_to(graded, changes, named) -> None:
    (refused,) = summarise(
        [graded(hardware={"cpus": 8}), graded(seed=1, **{"hardware": {"cpus": 8}, **changes})]
    ).setups
    assert not refused.averaged and named in refused.differences


@pytest.mark.parametrize(
    "changes",
    [{"edition": "v2"}, {"data_kind": "synthetic"}, {"agent": PluginUse(name="baseline", options={"x": "1"})}],
)
def test_other_editions_data_and_settings_are_other_setups(graded, changes) -> None:
    found = summarise([graded(), graded(seed=1, **changes)])
    assert [len(setup.runs) for setup in found.setups] == [1, 1]


def test_unlike_setups_are_not_compared_unasked(graded) -> None:
    items = [graded(), graded(model="m", data_digest="other")]
    (found,) = summarise(items).comparisons
    assert (found.differences, found.a_wins) == ((), None) and found.differ == {
        "data of spaceship-titanic": ["unknown", "other"]
    }
    assert summarise(items, mix=True).comparisons[0].a_wins == 0.5


def test_where_no_medals_are_there_are_none(graded, without_thresholds) -> None:
    items = [
        graded(data_kind="synthetic", made=without_thresholds(0.6)),
        graded(seed=1, data_kind="synthetic", made=without_thresholds(0.4)),
    ]
    (setup,) = summarise(items).setups
    assert setup.goal == "beats_sample" and setup.no_medals.startswith("No medals: synthetic data")
    rates = setup.rates[0].rates.rates
    assert [rates[kind] for kind in ("any_medal", "gold", "above_median")] == [None] * 3
    assert (rates["beats_sample"].mean, rates["valid"].mean) == (50.0, 100.0)
    assert [(line.medal, line.above_median) for line in setup.runs] == [(None, None)] * 2
    assert "1 of 2 runs beat the sample submission." in setup.notes


def test_runs_that_are_not_results_are_named(graded) -> None:
    items = [
        graded("a", medal="gold"),
        graded("b", state="collected", made=None),
        graded("c", state="failed", reason="no engine", made=None),
    ]
    (setup,) = summarise(items).setups
    assert setup.rates[0].rates.rates["any_medal"].mean == 50.0  # what could not be graded is no medal yet
    notes = "\n".join(setup.notes)
    assert "Could not be graded yet and count as no medal until then: b--0" in notes
    assert "Not counted, as they have not been graded: 1 run (c--0)" in notes
    assert [(f.what, f.runs) for f in setup.failures] == [("not graded", ("b--0",)), ("not run", ("c--0",))]


def test_scores_where_more_is_worse(graded, report) -> None:
    made = report(0.3, is_lower_better=True, gold_threshold=0.1, sample_score=0.5)
    assert summarise([graded(made=made)]).setups[0].position == pytest.approx(0.5)
    nowhere = report(0.3, sample_score=0.95)  # the sample is better than gold: there is no such axis
    assert summarise([graded(made=nowhere)]).setups[0].position is None


def test_among_the_published(document, two_groups) -> None:
    assert document.published == () and document.own == ()
    found = summarise(read_sources(["good"], [], two_groups), against_published=True)
    assert len(found.published) == 30
    assert (found.published[0].agent, found.published[0].rates["all"]) == ("Disarray", (77.78, 0.44))
    (own,) = found.own
    assert own.rates["all"] == found.setups[0].rates[-1].rates.rates["any_medal"]
    assert len(own.not_comparable) == 1 and "hardware" in own.not_comparable[0]


def test_what_is_not_comparable_with_the_published(graded, without_thresholds) -> None:
    item = graded(data_kind="synthetic", edition="v2", limits=Limits(time=600.0), made=without_thresholds(0.6))
    (own,) = summarise([item], against_published=True).own
    said = "; ".join(own.not_comparable)
    assert own.rates == {}
    for what in ("earn no medals", "edition v2", "no seed covers all 75", "time limit 10m"):
        assert what in said
