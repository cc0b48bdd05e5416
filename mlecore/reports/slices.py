"""A setup's runs by kind of competition: modality, task, size, year."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence

from mlecore.reports.benchmark import Listed, listed, size_class, task_family
from mlecore.reports.compare import any_flagged, counts
from mlecore.reports.document import Slice
from mlecore.reports.graded import Graded
from mlecore.reports.position import positions
from mlecore.reports.statistics import Counts, rate_interval


def slices(planned: Mapping[str, int], runs: Mapping[str, Sequence[Graded]], goal: str) -> Iterable[Slice]:
    """A slice of each kind that has planned competitions, if there is more than one kind.

    ``planned``: competition -> runs that were planned; ``runs`` are those that count.
    """

    def year(known: Listed) -> str | None:
        return None if known.year is None else str(known.year)

    flagged = any_flagged(runs)
    for by, kind in (
        ("modality", lambda known: known.modality),
        ("task", lambda known: task_family(known.task)),
        ("size", lambda known: size_class(known.size_gb)),
        ("year", year),
    ):
        values: dict[str, list[str]] = {}
        for competition in planned:
            values.setdefault(kind(listed(competition)) or "unknown", []).append(competition)
        if len(values) > 1:
            for value, ids in sorted(values.items(), key=lambda pair: _size_order(pair[0])):
                kept = {id: runs[id] for id in ids if id in runs}
                yield _slice(by, value, {id: planned[id] for id in ids}, kept, goal, flagged)


def _size_order(value: str) -> tuple[float, str]:
    """Sizes by size, everything else by name, unknown last."""
    first = value.removeprefix("less than ").split()[0]
    number = float(first) - value.startswith("less") if first.replace(".", "").isdigit() else 0.0
    return (float("inf") if value == "unknown" else number), value


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


def mean_positions(runs: Mapping[str, Sequence[Graded]]) -> dict[str, float]:
    """Competition -> mean position of its runs; those without an axis are left out."""
    found = {
        competition: [place for place in positions(items) if place is not None] for competition, items in runs.items()
    }
    return {competition: statistics.fmean(places) for competition, places in found.items() if places}
