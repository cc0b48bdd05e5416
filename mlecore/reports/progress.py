"""Rates over time: what the submissions as they stood after so many hours would have earned."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from attrs import frozen

from mlecore.reports.graded import Graded
from mlecore.reports.position import on_axis, position

FRACTIONS = (1 / 24, 2 / 24, 4 / 24, 8 / 24, 16 / 24, 1.0)  # of the time limit: 1, 2, 4, 8, 16 and 24 of 24 hours


@frozen(kw_only=True)
class Instant:
    """All runs at one time after their start. Shares in percent; ``position`` from 0 to 1, None if unknown."""

    seconds: float
    runs: int
    any_medal: float | None  # None: no medals can be earned
    valid: float
    position: float | None


def progress(runs: Sequence[Graded]) -> tuple[Instant, ...]:
    """At six times up to the longest time limit, over all runs; empty if no snapshot has been graded.

    A run that has ended keeps its result: the file that it handed in, which need not be its last snapshot.
    """
    if not any(item.history for item in runs):
        return ()
    limit = max(item.run.limits.time for item in runs)
    return tuple(_instant(limit * fraction, runs) for fraction in FRACTIONS)


def _instant(seconds: float, runs: Sequence[Graded]) -> Instant:
    states = [_state(item, seconds) for item in runs]
    ranked = [medal for (medal, _, _), item in zip(states, runs, strict=True) if item.ranked]
    places = [place for _, _, place in states if place is not None]
    return Instant(
        seconds=seconds,
        runs=len(runs),
        any_medal=100 * statistics.fmean(ranked) if ranked else None,
        valid=100 * statistics.fmean(valid for _, valid, _ in states),
        position=statistics.fmean(places) if places else None,
    )


def _state(item: Graded, seconds: float) -> tuple[bool, bool, float | None]:
    """(medal, valid, position) of one run at that time."""
    outcome, final = item.outcome, position(item.report)
    if item.run.seconds is not None and item.run.seconds <= seconds:
        return outcome.any_medal, outcome.valid, final
    so_far = [moment for moment in item.history if moment.seconds <= seconds]
    if not so_far:
        return False, False, None if final is None else 0.0
    last = so_far[-1]
    if not last.valid or item.report is None:
        return False, False, None if final is None else 0.0
    return last.medal is not None, True, None if final is None else on_axis(item.report, last.score)
