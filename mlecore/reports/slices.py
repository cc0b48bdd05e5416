"""A setup's runs by kind of competition: modality, task, size, year."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence

from mlecore.reports.benchmark import Listed, listed, size_class, task_family
from mlecore.reports.compare import any_flagged, counts
from mlecore.reports.document import Slice
from mlecore.reports.graded import Graded
from mlecore.reports.position import position
from mlecore.reports.statistics import bootstrap_rate


def slices(runs: Mapping[str, Sequence[Graded]], goal: str) -> Iterable[Slice]:
    """A slice of each kind that has competitions, if there is more than one kind."""

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
        for competition in runs:
            values.setdefault(kind(listed(competition)) or "unknown", []).append(competition)
        if len(values) > 1:
            for value, ids in sorted(values.items(), key=lambda pair: _size_order(pair[0])):
                yield _slice(by, value, {id: runs[id] for id in ids}, goal, flagged)


def _size_order(value: str) -> tuple[float, str]:
    """Sizes by size, everything else by name, unknown last."""
    first = value.removeprefix("less than ").split()[0]
    number = float(first) - value.startswith("less") if first.replace(".", "").isdigit() else 0.0
    return (float("inf") if value == "unknown" else number), value


def _slice(by: str, value: str, runs: Mapping[str, Sequence[Graded]], goal: str, flagged: bool) -> Slice:
    reached, valid, places = counts(runs, goal), counts(runs, "valid"), positions(runs)
    unflagged = counts(runs, goal, unflagged=True)
    return Slice(
        by=by,
        value=value,
        competitions=len(runs),
        runs=sum(map(len, runs.values())),
        goal=100 * statistics.fmean(c / n for c, n in reached.values()),
        goal_without_flagged=100 * statistics.fmean(c / n for c, n in unflagged.values()) if flagged else None,
        interval=bootstrap_rate(reached),
        valid=100 * statistics.fmean(c / n for c, n in valid.values()),
        position=statistics.fmean(places.values()) if places else None,
    )


def positions(runs: Mapping[str, Sequence[Graded]]) -> dict[str, float]:
    """Competition -> mean position of its runs; those without an axis are left out."""
    found = {}
    for competition, items in runs.items():
        if places := [place for item in items if (place := position(item.report)) is not None]:
            found[competition] = statistics.fmean(places)
    return found
