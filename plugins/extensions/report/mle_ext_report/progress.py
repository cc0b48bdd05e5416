"""Rates over time: what the submissions would have earned after so many hours."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from attrs import frozen

from mle_ext_report.graded import Graded
from mle_ext_report.position import on_axis, positions
from mle_ext_report.rates import FAILURE, Outcome
from mlecore.model.report import Report

FRACTIONS = (1 / 24, 2 / 24, 4 / 24, 8 / 24, 16 / 24, 1.0)  # of a day: 1, 2, 4, 8, 16 and 24 hours
DAY = 86400.0  # seconds, the time limit of MLE-bench


@frozen(kw_only=True)
class Instant:
    """All runs at one time after their start. Shares in percent; ``position`` from 0 to 1, None if unknown."""

    seconds: float
    runs: int
    any_medal: float | None  # None: no medals can be earned
    beats_sample: float
    valid: float
    position: float | None


def progress(runs: Sequence[Graded], shortest: float = DAY) -> tuple[Instant, ...]:
    """Over all runs; empty if no snapshot has been graded.

    At six times up to the ``shortest`` time limit (in seconds) of the setups that are reported, but a day at most; then
    each time twice as late, up to the runs' own limit: 1, 2, 4, 8, 16, 24, 48 and 100 hours. A run that has ended keeps
    its result: the file that it submitted, which need not be its last snapshot.
    """
    if not any(item.history for item in runs):
        return ()
    limit = max(item.run.limits.time for item in runs)
    times = [min(DAY, shortest, limit) * fraction for fraction in FRACTIONS]
    while 3 * times[-1] <= limit:  # not just before the limit
        times.append(2 * times[-1])
    return tuple(_instant(seconds, runs) for seconds in dict.fromkeys((*times, limit)))


def _instant(seconds: float, runs: Sequence[Graded]) -> Instant:
    states = [_state(item, final, seconds) for item, final in zip(runs, positions(runs), strict=True)]
    earned = [outcome for outcome, _ in states]
    medals = [outcome.any_medal for outcome, item in zip(earned, runs, strict=True) if item.ranked]
    places = [position for _, position in states if position is not None]
    return Instant(
        seconds=seconds,
        runs=len(runs),
        any_medal=100 * statistics.fmean(medals) if medals else None,
        beats_sample=100 * statistics.fmean(bool(outcome.beats_sample) for outcome in earned),
        valid=100 * statistics.fmean(outcome.valid for outcome in earned),
        position=statistics.fmean(places) if places else None,
    )


def _state(item: Graded, final: float | None, seconds: float) -> tuple[Outcome, float | None]:
    """What a run had earned by this time, and its position. ``final``: its position in the end."""
    if item.run.seconds is not None and item.run.seconds <= seconds:
        return item.outcome, final
    last = next((moment for moment in reversed(item.history) if moment.seconds <= seconds), None)
    if last is None or not last.valid or item.report is None:
        return FAILURE, None if final is None else 0.0
    beats = _beats(last.score, item.report)
    earned = Outcome(any_medal=last.medal is not None, beats_sample=beats, valid=True)
    return earned, None if final is None else on_axis(item.report, last.score)


def _beats(score: float | None, report: Report) -> bool:
    if score is None or report.sample_score is None:
        return False
    sample = round(report.sample_score, 5)  # as the scores of snapshots are
    return score < sample if report.is_lower_better else score > sample
