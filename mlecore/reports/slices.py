"""A setup's runs by kind of competition: modality and task."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence

from mlecore.reports.benchmark import listed, task_family
from mlecore.reports.compare import any_flagged, counts
from mlecore.reports.document import Slice
from mlecore.reports.graded import Graded
from mlecore.reports.position import mean_positions
from mlecore.reports.statistics import Counts, rate_interval


def slices(planned: Mapping[str, int], runs: Mapping[str, Sequence[Graded]], goal: str) -> Iterable[Slice]:
    """A slice of each kind that has planned competitions, if there are several kinds, and one of them has
    several competitions.

    ``planned``: competition -> runs that were planned; ``runs`` are those that count.
    """

    flagged = any_flagged(runs)
    for by, kind in (
        ("modality", lambda known: known.modality),
        ("task", lambda known: task_family(known.task)),
    ):
        values: dict[str, list[str]] = {}
        for competition in planned:
            values.setdefault(kind(listed(competition)) or "unknown", []).append(competition)
        if 1 < len(values) < len(planned):
            for value, ids in sorted(values.items(), key=lambda pair: (pair[0] == "unknown", pair[0])):
                kept = {id: runs[id] for id in ids if id in runs}
                yield _slice(by, value, {id: planned[id] for id in ids}, kept, goal, flagged)


def _slice(
    by: str,
    value: str,
    planned: Mapping[str, int],
    runs: Mapping[str, Sequence[Graded]],
    goal: str,
    flagged: bool,
) -> Slice:
    reached, valid, places = counts(runs, goal), counts(runs, "valid"), mean_positions(runs)
    return Slice(
        by=by,
        value=value,
        competitions=len(runs),
        planned_competitions=len(planned),
        runs=sum(map(len, runs.values())),
        planned_runs=sum(planned.values()),
        goal=mean_share(reached),
        goal_without_flagged=mean_share(counts(runs, goal, unflagged=True)) if flagged else None,
        interval=rate_interval(reached),
        valid=mean_share(valid),
        position=statistics.fmean(places.values()) if places else None,
    )


def mean_share(counted: Counts) -> float | None:
    """The mean over competitions of the share of runs that succeeded, in percent; None without any."""
    return 100 * statistics.fmean(wins / runs for wins, runs in counted.values()) if counted else None
