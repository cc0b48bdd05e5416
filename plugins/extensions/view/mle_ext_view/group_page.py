"""The pages of all groups, and of one."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from attrs import evolve, frozen
from markupsafe import Markup
from mle_ext_report.cells import one_line
from mle_ext_report.pages.charts import Line, Point, line_chart, scatter_chart
from mle_ext_report.pages.marks import Square
from mle_ext_report.pages.scale import Scale

from mlecore.model.record import SETTLED, moment
from mlecore.util.units import show_duration

from .catalogue import Runs
from .rows import Row
from .site import Links, Site

SHOWN = 200  # runs on one page of the table
_SQUARES = 1500  # of the matrix
_POINTS = 500  # of a chart
_KINDS = {
    **{kind: kind for kind in ("gold", "silver", "bronze", "above", "valid", "running")},
    **dict.fromkeys(("invalid", "none", "failed"), "failed"),
    "beats sample": "beats",
}
_KEYS = {
    "plan": lambda row: 0,
    "score": lambda row: -(row.position if row.position is not None else -1),
    "time": lambda row: -(row.record.seconds or 0),
    "cost": lambda row: -(row.cost or 0),
    "findings": lambda row: not row.flagged,
    "state": lambda row: row.record.state,
}
"""Orders of the table of runs."""


@frozen(kw_only=True)
class AgentSums:
    """What all runs of one agent came to."""

    label: str
    number: int  # its colour
    runs: int
    settled: int
    medals: Mapping[str, int]
    above: int  # the median without a medal, or the sample submission where there are no medals
    valid: int
    graded: int
    position: float | None  # mean, from the sample submission (0) to gold (1)
    hours: float
    tokens: int | None
    cost: float | None
    flagged: int


def groups_page(site: Site) -> str:
    """All groups, the newest first."""
    groups = site.catalogue.look()
    return site.render(
        "groups.html", 0, title="Runs", live=Links(0, site.static).events(), groups=groups, left=_left, runs=site.runs
    )


def _left(group: Runs) -> str:
    left = group.time_left(datetime.now(UTC))
    if left is None:
        return ""
    if not group.controlled:
        return "No controller is running."
    expected, most = left
    about = f"about {show_duration(expected)}, " if expected is not None else ""
    return f"{about}at most {show_duration(most)} to the end."


def group_page(site: Site, name: str, query: Mapping[str, str]) -> str:
    """One group. ``query``: agent, competition, state, text choose runs; sort and page say which are shown."""
    group = site.catalogue.group(name).look()
    rows = [_with_calls(site, row) for row in group.with_reasons()]
    links = Links(2, site.static)
    chosen = _sorted(list(filter(_filter(query), rows)), query.get("sort", ""))
    page = _page(query, len(chosen))
    shown = chosen if site.static else chosen[(page - 1) * SHOWN : page * SHOWN]
    labels = list(dict.fromkeys(row.record.label for row in rows))
    return site.render(
        "group.html",
        2,
        title=name,
        live=links.events(name),
        group=group,
        plan=group.group.plan if group.group else None,
        left=_left(group),
        agents=[_sums(label, number, rows) for number, label in enumerate(labels)],
        matrix=_matrix(rows, labels, links, name) if len(rows) <= _SQUARES else None,
        kinds={_KINDS.get(row.result, "open") for row in rows} | {"flagged" for row in rows if row.flagged},
        charts=_charts(rows, labels),
        findings=[row for row in rows if row.flagged or row.worst == "failed"][:SHOWN],
        rows=shown,
        found=len(chosen),
        page=page,
        pages=1 if site.static else -(-len(chosen) // SHOWN),
        query=query,
        choices={
            "agent": labels,
            "competition": list(dict.fromkeys(row.record.competition for row in rows)),
            "state": list(group.states),
        },
        orders=list(_KEYS),
    )


def _with_calls(site: Site, row: Row) -> Row:
    """With what the models of an active run have used so far."""
    calls = site.live.known(row.record)
    return evolve(row, record=evolve(row.record, usage=calls.usage)) if calls else row


def _page(query: Mapping[str, str], count: int) -> int:
    given = query.get("page", "1")
    return min(
        max(1, int(given) if given.isascii() and given.isdigit() and len(given) < 7 else 1), max(1, -(-count // SHOWN))
    )


def _filter(query: Mapping[str, str]) -> Any:
    wanted = {"label": query.get("agent"), "competition": query.get("competition"), "state": query.get("state")}
    text = query.get("text", "").lower()

    def keeps(row: Row) -> bool:
        record = row.record
        if any(value and getattr(record, name) != value for name, value in wanted.items()):
            return False
        return not text or text in f"{record.name} {record.state} {record.ended} {row.result} {record.reason}".lower()

    return keeps


def _sorted(rows: list[Row], by: str) -> list[Row]:
    return sorted(rows, key=_KEYS.get(by, _KEYS["plan"]))


def _sums(label: str, number: int, all_rows: Sequence[Row]) -> AgentSums:
    rows = [row for row in all_rows if row.record.label == label]
    results = [row.result for row in rows]
    positions = [row.position for row in rows if row.position is not None]
    tokens = [row.tokens for row in rows if row.tokens is not None]
    costs = [row.cost for row in rows if row.cost is not None]
    return AgentSums(
        label=label,
        number=number,
        runs=len(rows),
        settled=sum(row.record.state in SETTLED for row in rows),
        medals={medal: results.count(medal) for medal in ("gold", "silver", "bronze")},
        above=results.count("above") + results.count("beats sample"),
        valid=sum(row.report is not None and row.report.valid_submission for row in rows),
        graded=sum(row.record.state == "graded" for row in rows),
        position=statistics.fmean(positions) if positions else None,
        hours=sum(row.record.seconds or 0.0 for row in rows) / 3600,
        tokens=sum(tokens) if tokens else None,
        cost=sum(costs) if costs else None,
        flagged=sum(row.flagged for row in rows),
    )


def _matrix(
    rows: Sequence[Row], labels: Sequence[str], links: Links, group: str
) -> list[tuple[str, list[list[Square]]]]:
    """Competition -> for each agent, a square a seed."""
    cells: dict[str, dict[str, list[Square]]] = {}
    for row in rows:
        record = row.record
        agents = cells.setdefault(record.competition, {label: [] for label in labels})
        agents[record.label].append(_square(row, links.run(group, record.name)))
    return [(competition, list(agents.values())) for competition, agents in cells.items()]


def _square(row: Row, link: str) -> Square:
    record = row.record
    words = f"{record.label}, {record.competition}, seed {record.seed}: {row.result}"
    words += f", {row.score:g}" if row.score is not None else ""
    words += f" ({record.reason})" if record.reason and row.report is None else ""
    words += ", flagged" if row.flagged else ""
    return Square(kind=_KINDS.get(row.result, "open"), words=one_line(words), link=link, flagged=row.flagged)


def _charts(rows: Sequence[Row], labels: Sequence[str]) -> list[tuple[str, Markup]]:
    """Caption and chart; those that have something to show."""
    found = [
        ("Runs that have ended, over time", _ended_chart(rows, labels)),
        ("Cost and result", _cost_chart(rows, labels)),
    ]
    return [(caption, chart) for caption, chart in found if chart]


def _ended_chart(rows: Sequence[Row], labels: Sequence[str]) -> Markup:
    starts = [at for row in rows if (at := _started(row)) is not None]
    if not starts:
        return Markup("")
    first, lines = min(starts), []
    for number, label in enumerate(labels):
        ends = sorted(
            (row.ended_at - first) / 3600
            for row in rows
            if row.record.label == label and row.record.settled and row.ended_at is not None
        )
        points = [(0.0, 0.0), *((at, float(count)) for count, at in enumerate(ends, 1))]
        thinned = [*points[:: max(1, len(points) // _POINTS)], points[-1]]
        lines += [Line(name=str(number + 1), points=thinned, number=number, step=True)] if ends else []
    if not lines:
        return Markup("")
    return line_chart(
        lines, Scale(label="hours since the first start", low=0.0), Scale(label="runs", low=0.0, ticks=_whole(lines))
    )


def _whole(lines: Sequence[Line]) -> Sequence[float]:
    """Ticks of a small number of runs, of which there are no fractions; none: the chart's own."""
    most = max(round(line.points[-1][1]) for line in lines)
    return range(most + 1) if most <= 10 else ()


def _cost_chart(rows: Sequence[Row], labels: Sequence[str]) -> Markup:
    """Each run's result by what it cost; by its hours where no cost is known."""
    placed = [(row, row.position) for row in rows if row.position is not None]
    in_dollars = any(row.cost for row, _ in placed)
    points = [
        Point(x=x, y=y, words=one_line(f"{row.record.name}: {y:.2f}"), number=labels.index(row.record.label))
        for row, y in placed
        if (x := row.cost if in_dollars else (row.record.seconds or 0.0) / 3600) is not None
    ]
    if len(points) < 2:
        return Markup("")
    across = Scale(label="US dollars" if in_dollars else "hours", low=0.0)
    return scatter_chart(points[:_POINTS], across, Scale(label="from sample (0) to gold (1)", low=0.0, high=1.0))


def _started(row: Row) -> float | None:
    at = moment(row.record.attempts[0].started_at) if row.record.attempts else None
    return at.timestamp() if at else None
