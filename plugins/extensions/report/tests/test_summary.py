"""What a report says of runs of all sorts; test_missing_runs.py computes its figures again."""

from __future__ import annotations

import pytest
from attrs import evolve
from mle_ext_report.graded import Judgement, Moment, ReportedFinding
from mle_ext_report.sections import sections
from mle_ext_report.sources import read_sources
from mle_ext_report.summary import summarise

from mlecore.model.agents import Usage
from mlecore.model.backends import Hardware
from mlecore.model.calls import ModelCalls
from mlecore.model.facts import Reference
from mlecore.model.provenance import PluginUse
from mlecore.model.record import Attempt, Availability, Limits


@pytest.fixture(scope="module")
def document(two_groups):
    return summarise(read_sources(["good", "bad"], [], two_groups))


def test_what_the_gateway_measured(graded) -> None:
    told, measured = Usage(input_tokens=5), Usage(input_tokens=7, measured=True)
    items = [graded(usage=told), graded(seed=1, usage=measured), graded(seed=2)]
    costs = {cost.unit: cost for cost in summarise(items).setups[0].costs}
    assert (costs["input tokens"].total, costs["input tokens"].known, costs["input tokens"].measured) == (12, 2, 1)
    assert costs["hours"].measured is None and "output tokens" not in costs


def test_the_last_instant_is_the_result(document) -> None:
    instants = document.setups[0].progress
    assert [at.seconds for at in instants] == [3600, 7200, 4 * 3600, 8 * 3600, 16 * 3600, 24 * 3600]
    everything = next(row.rates.rates for row in document.setups[0].rates if row.rates.split == "All")
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


def test_time_limits_are_compared_at_the_same_hours(graded) -> None:
    """A run of 100 h is also seen after 24 h, alone and beside runs of 24 h; short ones end at their limit."""
    hours = [1, 2, 4, 8, 16, 24, 48, 100]
    history = (
        Moment(seconds=80_000.0, valid=True, score=0.6, medal=None),
        Moment(seconds=90_000.0, valid=True, score=0.9, medal="gold"),
    )
    changes = {"score": 0.9, "medal": "gold", "history": history}
    long = graded(label="long", limits=Limits(time=100 * 3600.0), seconds=300_000.0, **changes)
    at = summarise([long]).setups[0].progress
    assert [instant.seconds / 3600 for instant in at] == hours
    assert [instant.any_medal for instant in at] == [0.0] * 6 + [100.0] * 2
    day = graded(label="day", limits=Limits(time=86400.0), seconds=80_000.0, **changes)
    short = graded(label="short", limits=Limits(time=12 * 3600.0), seconds=40_000.0, **changes)
    by_label = {setup.label: [at.seconds / 3600 for at in setup.progress] for setup in summarise([long, day]).setups}
    assert by_label == {"long": hours, "day": hours[:6]}
    by_label = {setup.label: [at.seconds / 3600 for at in setup.progress] for setup in summarise([short, day]).setups}
    assert by_label == {"short": [0.5, 1, 2, 4, 8, 12], "day": [0.5, 1, 2, 4, 8, 12, 24]}


def test_progress_without_medals_is_towards_the_sample(graded, without_thresholds) -> None:
    history = (
        Moment(seconds=1000.0, valid=True, score=0.4, medal=None),
        Moment(seconds=5000.0, valid=True, score=0.6, medal=None),
    )
    made = without_thresholds(0.7)
    better = graded(data_kind="synthetic", seconds=80_000.0, made=made, history=history)
    worse = graded(
        data_kind="synthetic", seed=1, seconds=80_000.0, made=evolve(made, is_lower_better=True), history=history
    )
    nothing = evolve(made, sample_score=None, beats_sample=None)
    without = graded(data_kind="synthetic", seed=2, seconds=80_000.0, made=nothing, history=history)
    document = summarise([better, worse, without])
    at = document.setups[0].progress
    assert {instant.any_medal for instant in at} == {None}
    assert [round(instant.beats_sample) for instant in at] == [33, 33, 33, 33, 33, 67]  # 1 h: 0.4; 2 h on: 0.6; the end
    table = next(section for section in sections(document) if section.id == "progress")
    assert table.header[3] == "BEATS SAMPLE %" and [row[3] for row in table.rows] == ["33.3"] * 5 + ["66.7"]


def test_beaten_samples_are_out_of_the_runs_of_the_rate(graded, without_thresholds) -> None:
    """10 of 40 runs: 21 score no better, 6 are invalid, and 3 have no score of the sample to beat."""
    invalid = evolve(without_thresholds(0.5), status="invalid", valid_submission=False, score=None, beats_sample=None)
    undefined = without_thresholds(0.9, sample_score=None, beats_sample=None)
    reports = [without_thresholds(0.6)] * 10 + [without_thresholds(0.4)] * 21 + [invalid] * 6 + [undefined] * 3
    (setup,) = summarise([graded(f"c{n}", data_kind="synthetic", made=each) for n, each in enumerate(reports)]).setups
    assert setup.rates[-1].rates.rates["beats_sample"].mean == 25.0
    said = next(note for note in setup.notes if "beat the sample" in note)
    assert said.startswith("10 of 40 runs beat the sample submission (")
    for part in ("21 score no better", "6 without a valid submission", "3 without a sample score to beat"):
        assert part in said
    (setup,) = summarise([graded(data_kind="synthetic", made=undefined)]).setups
    assert "0 of 1 run beat the sample submission (1 without a sample score to beat)." in setup.notes


def test_flagged_runs_count_once_as_they_are_and_once_as_failures(graded) -> None:
    flag = (ReportedFinding(detector="d", rule="copied", verdict="violation", summary="it copied"),)
    items = [graded("a", medal="gold", suspicions=flag), graded("b", medal="gold")]
    (setup,) = summarise(items).setups
    (row,) = setup.rates
    assert row.rates.rates["gold"].mean == 100.0 and row.without_flagged["gold"].mean == 50.0
    assert setup.flagged == 1
    assert summarise([items[1]]).setups[0].rates[0].without_flagged is None


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"limits": Limits(time=60.0)}, "time limit"),
        ({"limits": Limits(network="open")}, "network"),
        ({"hardware": Hardware(cpus=8, gpus=("A10",))}, "hardware class"),
        ({"description_digest": "other"}, "description of spaceship-titanic"),
        ({"backend": PluginUse(name="docker")}, "backend"),
    ],
)
def test_each_condition_is_held_to(graded, changes, named) -> None:
    (refused,) = summarise(
        [graded(hardware=Hardware(cpus=8)), graded(seed=1, **{"hardware": Hardware(cpus=8), **changes})]
    ).setups
    assert not refused.averaged and named in refused.differences


def test_unlike_setups_are_not_compared_unasked(graded) -> None:
    items = [graded(), graded(model="m", data_digest="other")]
    (found,) = summarise(items).comparisons
    assert (found.differences, found.a_wins) == ((), None) and found.differ == {
        "data of spaceship-titanic": ["unknown", "other"]
    }
    assert summarise(items, mix=True).comparisons[0].a_wins == 0.5


def test_runs_that_are_not_results_are_named(graded) -> None:
    items = [
        graded("a", medal="gold"),
        graded("b", state="collected", made=None),
        graded("c", state="failed", reason="no engine", made=None),
    ]
    (setup,) = summarise(items).setups
    assert setup.rates[0].rates.rates["any_medal"] is None
    notes = "\n".join(setup.notes)
    assert "Not graded yet, and no medal until then: b--0" in notes
    assert "Missing and left out (1 failed): c--0." in notes
    assert summarise(items[:2]).setups[0].rates[0].rates.rates["any_medal"].mean == 50.0  # not graded: no medal yet
    padded = summarise(items, pad_missing=True).setups[0].rates[0].rates.rates["any_medal"]
    assert padded.mean == pytest.approx(100 / 3)
    assert [(f.kind, f.runs) for f in setup.failures] == [("not graded", ("b--0",)), ("not run", ("c--0",))]


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
    (everything,) = (row.rates.rates for row in found.setups[0].rates if row.rates.split == "All")
    assert own.rates["all"] == everything["any_medal"]
    assert len(own.not_comparable) == 1 and "hardware" in own.not_comparable[0]


def test_what_is_not_comparable_with_the_published(graded, without_thresholds) -> None:
    item = graded(data_kind="synthetic", edition="v2", limits=Limits(time=600.0), made=without_thresholds(0.6))
    (own,) = summarise([item], against_published=True).own
    said = "; ".join(own.not_comparable)
    assert own.rates == {}
    for what in ("earn no medals", "edition v2", "no seed covers all 75", "time limit 10m"):
        assert what in said


def test_runs_whose_model_often_failed_are_named(graded) -> None:
    items = [
        graded("a", calls=ModelCalls(calls=40, failed=12)),
        graded("b", calls=ModelCalls(calls=10_000, failed=900)),  # 9 %
        graded("c", calls=ModelCalls(calls=5, failed=3)),
        graded("d", attempts=(Attempt(number=1, job="j", availability=Availability(failed=2, failed_last=True)),)),
    ]
    text = " ".join(note for setup in summarise(items).setups for note in setup.notes)
    name = items[0].run.name
    assert f"Many calls to the model failed in 1 run: {name} (12 of 40, 30%)." in text
    assert f"The model's endpoint failed in the last calls of 1 run: {items[3].run.name}." in text


def test_failures_and_detectors_are_counted(graded, report) -> None:
    none = report(status="none", valid_submission=False, submission_exists=False)
    judged = [
        Judgement(detector="d", version="1", outcome="failed", why="no answer", usage=Usage(input_tokens=n))
        for n in (3, 4)
    ]
    items = [graded("a", ended="timed_out", made=none), graded("b")]
    (setup,) = summarise([evolve(item, judgements=(each,)) for item, each in zip(items, judged, strict=True)]).setups
    assert [(f.kind, f.cause, f.runs) for f in setup.failures] == [("no submission", "time limit reached", ("a--0",))]
    assert setup.process_ends == {"time limit reached": 1, "finished": 1}
    (use,) = setup.detectors
    assert (use.outcomes, use.tokens, use.problems, use.not_judged) == ({"failed": 2}, 7, ("no answer",), 0)


def test_reference_scores_are_shown_and_count_as_no_medals(graded, without_thresholds) -> None:
    known = Reference(
        gold=0.9, silver=0.8, bronze=0.7, median=0.6, agents=("baseline 1",), seeds=3, date="2026-11-28", data=""
    )
    made = [without_thresholds(0.95, reference=known, reference_place="gold", data_kind="no_leaderboard")]
    made.append(without_thresholds(0.5, reference=known, data_kind="no_leaderboard"))
    document = summarise([graded("my-own", seed, made=each) for seed, each in enumerate(made)])
    (setup,) = document.setups
    assert setup.rates[0].rates.rates["any_medal"] is None and setup.goal == "beats_sample"
    assert [(line.medal, line.reference) for line in setup.runs] == [
        (None, "reference gold"),
        (None, "not above the reference median"),
    ]
    assert any("1 reference gold" in note and "baseline 1" in note for note in setup.notes)
