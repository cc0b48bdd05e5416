"""Rates over time: what the submissions would have earned after so many hours."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from attrs import frozen

from mle_ext_report.graded import Graded
from mle_ext_report.position import on_axis, positions
from mlecore.model.report import Report

FRACTIONS = (1 / 24, 2 / 24, 4 / 24, 8 / 24, 16 / 24, 1.0)  # of the time limit: 1, 2, 4, 8, 16 and 24 of 24 hours


@frozen(kw_only=True)
class Instant:
    """All runs at one time after their start. Shares in percent; ``position`` from 0 to 1, None if unknown."""

    seconds: float
    runs: int
    any_medal: float | None  # None: no medals can be earned
    beats_sample: float
    valid: float
    position: float | None


def progress(runs: Sequence[Graded]) -> tuple[Instant, ...]:
    """At six times up to the longest time limit, over all runs; empty if no snapshot has been graded.

    A run that has ended keeps its result: the file that it submitted, which need not be its last snapshot.
    """
    if not any(item.history for item in runs):
        return ()
    limit = max(item.run.limits.time for item in runs)
    return tuple(_instant(limit * fraction, runs) for fraction in FRACTIONS)


def _instant(seconds: float, runs: Sequence[Graded]) -> Instant:
    states = [_state(item, final, seconds) for item, final in zip(runs, positions(runs), strict=True)]
    medals = [state.medal for state, item in zip(states, runs, strict=True) if item.ranked]
    places = [state.position for state in states if state.position is not None]
    return Instant(
        seconds=seconds,
        runs=len(runs),
        any_medal=100 * statistics.fmean(medals) if medals else None,
        beats_sample=100 * statistics.fmean(state.beats_sample for state in states),
        valid=100 * statistics.fmean(state.valid for state in states),
        position=statistics.fmean(places) if places else None,
    )


@frozen(kw_only=True)
class _State:
    """One run at one time."""

    medal: bool = False
    beats_sample: bool = False
    valid: bool = False
    position: float | None = None


def _state(item: Graded, final: float | None, seconds: float) -> _State:
    """``final``: the position that the run reached in the end."""
    outcome = item.outcome
    if item.run.seconds is not None and item.run.seconds <= seconds:
        return _State(
            medal=outcome.any_medal, beats_sample=bool(outcome.beats_sample), valid=outcome.valid, position=final
        )
    last = next((moment for moment in reversed(item.history) if moment.seconds <= seconds), None)
    if last is None or not last.valid or item.report is None:
        return _State(position=None if final is None else 0.0)
    return _State(
        medal=last.medal is not None,
        beats_sample=_beats(last.score, item.report),
        valid=True,
        position=None if final is None else on_axis(item.report, last.score),
    )


def _beats(score: float | None, report: Report) -> bool:
    sample = report.sample_score
    if score is None or sample is None:
        return False
    return score < sample if report.is_lower_better else score > sample
