"""The charts of a report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from mle_ext_report.appendix import Appendix
from mle_ext_report.cells import number, one_line, quantity, score, threshold
from mle_ext_report.document import SetupSummary
from mle_ext_report.lines import RunLine
from mle_ext_report.pages.charts import Line, Point, line_chart, scatter_chart
from mle_ext_report.pages.scale import Scale
from mle_ext_report.pages.strips import Axis, Dot, score_strip
from mle_ext_report.percentile import MARKS
from mle_ext_report.rates import PERCENTILE, Rate
from mle_ext_report.sections.results import by_competition, facts_line, metric
from mle_ext_report.sections.setups import goals

Numbers = Mapping[str, int]
"""Key of a setup -> the number of its colour."""


Strip = tuple[str, str, str, str, Markup]
"""Competition, metric, the scores of the sample submission and of gold, and the drawing."""


def appendix(found: Appendix) -> Markup | None:
    """The appendix's chart, if it has one."""
    if len(found.dots) < 2:
        return None
    points = [Point(x=dot.x, y=dot.y, words=f"{dot.name}: {dot.x:.3f}, {dot.y:.3f}", number=0) for dot in found.dots]
    return scatter_chart(points, Scale(label=found.x), Scale(label=found.y), f"{found.y} against {found.x}")


def strips(setups: Sequence[SetupSummary], numbers: Numbers) -> dict[bool, list[Strip]]:
    """The strips of competitions with medals (True) and of those without (False)."""
    found: dict[bool, list[Strip]] = {True: list(_percentiles(setups, numbers)), False: []}
    for competition, by_setup in by_competition(setups).items():
        lines = [line for setup in setups for line in by_setup.get(setup.key, ())]
        some = facts_line(by_setup)
        axis = axis_of(some, lines)
        if axis is None or all(line.exact is None for line in lines):
            continue
        dots = [
            Dot(score=line.exact, words=f"{key}, seed {one_line(line.column)}: {score(line)}", number=numbers[key])
            for key in reversed(list(numbers))  # the best one on top
            for line in by_setup.get(key, ())
            if line.exact is not None
        ]
        found[some.gold_threshold is not None].append(
            (
                one_line(competition),
                metric(some),
                threshold(some.sample_score),
                threshold(some.gold_threshold),
                score_strip(axis, dots),
            )
        )
    return {medals: rows for medals, rows in found.items() if rows}


def _percentiles(setups: Sequence[SetupSummary], numbers: Numbers) -> Iterator[Strip]:
    """The mean percentiles of setups on the axis that they share: one for each list of competitions."""
    axes: dict[tuple[tuple[str, float], ...], list[tuple[str, Rate]]] = {}
    for setup in setups:
        row = setup.planned_rates
        if row and row.marks and (mean := row.rates.rates[PERCENTILE]):
            axes.setdefault(tuple(row.marks.items()), []).append((setup.key, mean))
    for marks, means in axes.items():
        places: dict[str, Any] = {"sample": None, **dict(marks)}
        axis = Axis(best=100.0, **places)
        dots = [Dot(score=mean.mean, words=f"{key}: {mean}", number=numbers[key]) for key, mean in reversed(means)]
        ends = (number(axis.sample, 1), number(axis.gold, 1))
        whose = f" of {', '.join(key for key, _ in means)}" if len(axes) > 1 else ""
        yield (f"Mean percentile{whose}", "percentile ↑", *ends, score_strip(axis, dots))


def axis_of(some: RunLine, lines: Sequence[RunLine]) -> Axis | None:
    """The axis of a strip. Without medals it ends at the best run, if that is better than the sample; None without a
    sample's score."""
    lower = bool(some.lower_is_better)
    if some.gold_threshold is not None:
        best = next((line.best_human for line in lines if line.best_human is not None), None)
        limits = {name: getattr(some, f"{name}_threshold") for name in MARKS[1:]}
        return Axis(sample=some.sample_score, best=best, lower_is_better=lower, **limits)
    scores = [line.exact for line in lines if line.exact is not None]
    best = (min if lower else max)(scores, default=None)
    sample = some.sample_score
    if best is None or sample is None:
        return None
    better = best < sample if lower else best > sample
    return Axis(sample=sample, best=best if better else None, lower_is_better=lower)


def progress(setups: Sequence[SetupSummary], numbers: Numbers) -> Markup:
    """The share of runs that had reached the goal, over time; empty if no graded snapshot did."""
    lines = [
        Line(
            name=setup.key,
            number=numbers[setup.key],
            points=[(at.seconds / 3600, getattr(at, setup.goal) or 0.0) for at in setup.progress],
        )
        for setup in setups
        if setup.progress
    ]
    if not any(y for line in lines for _, y in line.points):
        return Markup("")
    hours = sorted({x for line in lines for x, _ in line.points})
    ticks = hours if len(hours) < 9 and hours[0] >= 0.5 else ()  # else they overlap, or are no round numbers
    x = Scale(label="hours since the start", log=True, low=hours[0], high=hours[-1], ticks=ticks)
    return line_chart(lines, x, Scale(label=f"{goals(setups).lower()}, % of runs", low=0))


def cost(setups: Sequence[SetupSummary], numbers: Numbers) -> Markup:
    """The main rate by what a run cost, in dollars if they are known for all setups, else in hours.

    One competition would show nothing.
    """
    rated = [setup for setup in setups if setup.main_rate and len({line.competition for line in setup.runs}) > 1]
    units = ("US dollars", "hours")
    unit = next((unit for unit in units if rated and all(_per_run(setup, unit) for setup in rated)), None)
    if len(rated) < 2 or unit is None:
        return Markup("")
    points = [_point(setup, unit, numbers) for setup in rated]
    spent = [point.x for point in points]
    log = 8 * min(spent) < max(spent) and min(spent) > 0
    x = Scale(label=f"{unit} per run", log=log, low=None if log else 0)
    return scatter_chart(points, x, Scale(label=f"{goals(setups).lower()}, % of competitions", low=0))


def _point(setup: SetupSummary, unit: str, numbers: Numbers) -> Point:
    found = setup.planned_rates
    rate, spent = setup.main_rate, _per_run(setup, unit)
    assert found is not None and rate is not None and spent is not None
    low, high = found.intervals[setup.goal] or (None, None)
    words = f"{setup.key}: {rate.mean:.1f} % for {quantity(spent)} {unit} per run"
    return Point(x=spent, y=rate.mean, words=words, number=numbers[setup.key], low=low, high=high, name=setup.key)


def _per_run(setup: SetupSummary, unit: str) -> float | None:
    """The mean over the runs whose cost is known."""
    return next((cost.total / cost.known for cost in setup.costs if cost.unit == unit), None)
