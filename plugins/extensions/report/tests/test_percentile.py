"""Mean percentiles of a small group, worked out here from the leaderboards without mlecore's ranks and rates."""

from __future__ import annotations

import csv
import io
import json
import math
import random
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from attrs import asdict, evolve
from mle_ext_report.document import Document, SplitSummary
from mle_ext_report.formats import rendered
from mle_ext_report.graded import Graded, ReportedFinding
from mle_ext_report.statistics import mean_interval
from mle_ext_report.summary import summarise

from mlecore.grading.medals import thresholds_of
from mlecore.grading.rank import rank_of

COMPETITIONS = ("aerial-cactus-identification", "denoising-dirty-documents", "dog-breed-identification")
LOWER = COMPETITIONS[1]  # of two scores the lower one is better
SAMPLE = 0.5
FLAG = (ReportedFinding(detector="d", rule="copied", verdict="violation", summary="it copied"),)


def leaderboard(competition: str) -> list[float]:
    """40 teams, with many ties: at 20 different scores at most, and six teams that submitted the sample."""
    draw = random.Random(competition)
    return [SAMPLE] * 6 + [draw.randrange(20) / 20 for _ in range(34)]


def not_better(competition: str, score: float) -> float:
    """The share of teams that are not better, in percent."""
    worse = [team >= score if competition == LOWER else team <= score for team in leaderboard(competition)]
    return 100 * sum(worse) / len(worse)


@pytest.fixture
def item(graded, report):
    """A run with its fate: a score, "x" an invalid submission, "." a missing run."""

    def make(competition: str, seed: int, fate: float | str, board: bool = True, **changes: Any) -> Graded:
        scores, lower = leaderboard(competition), competition == LOWER
        limits = asdict(thresholds_of(scores, lower))
        score = fate if isinstance(fate, float) else None
        marks = {name: not_better(competition, limit) for name, limit in limits.items()}
        rank = rank_of(score, scores, lower) if board and score is not None else None
        made = report(
            None if score is None or math.isnan(score) else score,
            competition_id=competition,
            is_lower_better=lower,
            **{f"{name}_threshold": limit for name, limit in limits.items()},
            **({"threshold_percentiles": marks, "sample_percentile": not_better(competition, SAMPLE)} if board else {}),
            **(asdict(rank) if rank else {}),
        )
        if score is not None and math.isnan(score):
            made = evolve(made, valid_submission=True, status="graded", score_text="nan")
        missing = (
            {"state": "planned", "made": None, "ended": None, "data_kind": None} if fate == "." else {"made": made}
        )
        return graded(competition, seed, **missing, **changes)

    return make


FATES: Mapping[str, Sequence[float | str]] = {  # of seeds 0, 1, 2
    COMPETITIONS[0]: (0.5, 0.95, "x"),  # as good as the sample, which six teams and more have
    COMPETITIONS[1]: (0.25, math.nan, 0.0),
    COMPETITIONS[2]: (2.0, 0.7, 0.3),
}


def expected(fates: Mapping[str, Sequence[float | str]], seeds: Sequence[int]) -> list[list[float]]:
    """Per seed, the percentile on each competition."""

    def place(competition: str, fate: float | str) -> float:
        return 0.0 if isinstance(fate, str) or math.isnan(fate) else not_better(competition, fate)

    return [[place(id, fates[id][seed]) for id in fates] for seed in seeds]


def agrees(row: SplitSummary, places: Sequence[Sequence[float]]) -> None:
    means = [statistics.fmean(each) for each in places]
    found = row.rates.rates["percentile"]
    assert found is not None and found.mean == pytest.approx(statistics.fmean(means))
    sem = statistics.stdev(means) / math.sqrt(len(means)) if len(means) > 1 else None
    assert found.sem == (None if sem is None else pytest.approx(sem))
    shares = [statistics.fmean(each) / 100 for each in zip(*places, strict=True)]
    interval = mean_interval(shares, len(places) * len(shares))
    assert interval is not None
    assert row.intervals["percentile"] == pytest.approx(tuple(100 * end for end in interval))


def row_of(document: Document) -> SplitSummary:
    row = document.setups[0].planned_rates
    assert row is not None
    return row


def test_seeds_ties_and_invalid_submissions(item) -> None:
    document = summarise([item(id, seed, fate) for id, fates in FATES.items() for seed, fate in enumerate(fates)])
    places = expected(FATES, (0, 1, 2))
    agrees(row_of(document), places)
    mean = statistics.fmean(map(statistics.fmean, places))
    for form in ("text", "markdown", "html"):
        assert f"{mean:.1f} ± " in rendered(document, form)
    lines = csv.DictReader(io.StringIO(rendered(document, "csv")))
    assert statistics.fmean(float(line["percentile"]) for line in lines) == pytest.approx(mean)
    rates = json.loads(rendered(document, "json"))["setups"][0]["rates"][-1]
    assert rates["rates"]["rates"]["percentile"]["mean"] == pytest.approx(mean)


@pytest.mark.parametrize("pad", [False, True])
def test_missing_runs_are_left_out_with_their_seed_or_are_at_0(item, pad: bool) -> None:
    fates = {**FATES, COMPETITIONS[2]: (2.0, ".", 0.3)}
    items = [item(id, seed, fate) for id, of in fates.items() for seed, fate in enumerate(of)]
    row = row_of(summarise(items, pad_missing=pad))
    agrees(row, expected(fates, (0, 1, 2) if pad else (0, 2)))
    assert row.rates.unplaced == ()


def test_the_median_medals_and_the_sample_are_on_the_same_axis(item) -> None:
    document = summarise([item(id, 0, "x") for id in FATES])
    limits = {id: asdict(thresholds_of(leaderboard(id), id == LOWER)) for id in FATES}
    for name in ("median", "bronze", "silver", "gold"):
        of = [not_better(id, limits[id][name]) for id in FATES]
        assert row_of(document).marks[name] == pytest.approx(statistics.fmean(of))
    assert row_of(document).marks["sample"] == pytest.approx(statistics.fmean(not_better(id, SAMPLE) for id in FATES))
    assert "the median human at" in rendered(document, "text") and "Mean percentile" in rendered(document, "html")


def test_competitions_without_a_leaderboard_are_left_out(item) -> None:
    known = [item(id, 0, FATES[id][0]) for id in COMPETITIONS[:2]]
    for fate in (0.7, "x"):
        row = row_of(summarise([*known, item(COMPETITIONS[2], 0, fate, board=False)]))
        agrees(row, expected({id: FATES[id] for id in COMPETITIONS[:2]}, (0,)))
        assert row.rates.unplaced_words == f"2 of 3: {COMPETITIONS[2]} has no leaderboard at hand"
    nowhere = summarise([item(id, 0, 0.7, board=False) for id in COMPETITIONS])
    assert row_of(nowhere).rates.rates["percentile"] is None
    for form in ("text", "markdown", "html"):
        assert "percentile" not in rendered(nowhere, form).lower()


def test_an_old_record_of_an_invalid_submission_is_at_0(item) -> None:
    """Those have no percentiles of thresholds, so that another run has to show that there is a leaderboard."""
    items = [item(COMPETITIONS[0], 0, 0.95), item(COMPETITIONS[0], 1, "x", board=False)]
    found = row_of(summarise(items)).rates.rates["percentile"]
    assert found is not None and found.mean == pytest.approx(not_better(COMPETITIONS[0], 0.95) / 2)


def test_flagged_runs_are_at_0_beside(item) -> None:
    items = [item(id, 0, fates[0], suspicions=FLAG if id == LOWER else ()) for id, fates in FATES.items()]
    row = row_of(summarise(items))
    (places,) = expected(FATES, (0,))
    agrees(row, [places])
    clean = (row.without_flagged or {})["percentile"]
    assert clean is not None and clean.mean == pytest.approx((places[0] + places[2]) / 3)


def test_percentiles_that_cannot_be_are_cut_off(item) -> None:
    """A grade file from elsewhere may say anything."""
    items = [item(id, 0, fates[0]) for id, fates in FATES.items()]
    wrong = {"gold": 1e300, "silver": -1e300, "": 5.0}
    items = [
        evolve(each, report=evolve(each.report, percentile=1e300, threshold_percentiles=wrong, sample_percentile=-1.0))
        for each in items
    ]
    document = summarise(items)
    assert row_of(document).rates.rates["percentile"] is not None
    assert row_of(document).rates.rates["percentile"].mean == 100  # type: ignore[union-attr]
    assert dict(row_of(document).marks) == {"sample": 0, "silver": 0, "gold": 100}
    assert rendered(document, "html")
