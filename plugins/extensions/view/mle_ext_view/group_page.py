"""The pages of all groups, and of one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime

from attrs import evolve, frozen
from markupsafe import Markup
from mle_ext_report.cells import one_line
from mle_ext_report.html.winners import Winners, winners
from mle_ext_report.names import names
from mle_ext_report.pages.charts import Line, Point, line_chart, scatter_chart
from mle_ext_report.pages.marks import Square
from mle_ext_report.pages.rates import RateRow
from mle_ext_report.pages.scale import Scale
from mle_ext_report.tallies import Failure, failures

from mlecore.controller.display import last_words
from mlecore.model.record import moment
from mlecore.util.units import show_duration

from . import results
from .catalogue import Runs
from .rows import Row
from .setups import Setup, graded, setups_of
from .site import Links, Site

SHOWN = 200  # runs on one page of the table
_SQUARES = 1500  # of the matrix
_POINTS = 500  # of a chart
_NAMED = 8  # runs that failed alike
_SQUARE = {"lost": "failed", "waiting": "open"}
"""Kinds of results whose squares look like others."""
_KEYS: Mapping[str, Callable[[Row], object]] = {
    "plan": lambda row: 0,
    "score": lambda row: -(row.position if row.position is not None else -1),
    "time": lambda row: -(row.record.seconds or 0),
    "cost": lambda row: -(row.cost or 0),
    "findings": lambda row: not row.flagged,
    "state": lambda row: row.record.state,
}
"""Orders of the table of runs."""


@frozen(kw_only=True)
class Failed:
    """Runs that failed alike."""

    kind: str
    cause: str
    count: int
    runs: Sequence[tuple[Setup, Row]]  # the first ones
    said: str  # the last line of the first one's output


def groups_page(site: Site, query: Mapping[str, str]) -> str:
    """All groups, the newest first. ``query``: text and state choose groups."""
    groups = site.catalogue.look()
    chosen = [group for group in groups if _chosen(group, query)]
    return site.render(
        "groups.html",
        0,
        title="Runs",
        live=Links(0, site.static).events(),
        groups=chosen,
        kinds=set[str]().union(*(results.kinds(list(group.rows.values())) for group in chosen)),
        number=len(groups),
        left=_left,
        results=results,
        names=_names,
        runs=site.runs.name if site.static else site.runs,
        query=query,
    )


def _chosen(group: Runs, query: Mapping[str, str]) -> bool:
    """Does a group belong to those that are asked for?"""
    ended = group.settled == len(group.rows)
    if query.get("state") not in (None, "", "ended" if ended else "not ended"):
        return False
    plan = group.group.plan if group.group else None
    names = [*(agent.label for agent in plan.agents), *plan.competitions] if plan else []
    return query.get("text", "").lower() in " ".join([group.name, *names]).lower()


def _left(group: Runs) -> str:
    left = group.time_left(datetime.now(UTC))
    if left is None:
        return ""
    if not group.controlled:
        return "No controller is running."
    expected, most = left
    about = "At most" if expected is None else f"About {show_duration(expected)}, at most"
    return f"{about} {show_duration(most)} to the end."


def group_page(site: Site, name: str, query: Mapping[str, str]) -> str:
    """One group. ``query``: agent, competition, state, text choose runs; sort and page say which are shown."""
    group = site.catalogue.group(name).look()
    rows = [_with_calls(site, row) for row in group.with_reasons()]
    links = Links(2, site.static)
    setups = setups_of(rows)
    of = {row.record.name: setup for setup in setups for row in setup.rows}
    chosen = _sorted(list(filter(_filter(query), rows)), query.get("sort", ""))
    page = _page(query, len(chosen))
    return site.render(
        "group.html",
        2,
        title=name,
        live=links.events(name),
        group=group,
        plan=group.group.plan if group.group else None,
        left=_left(group),
        results=results,
        winners=_winners(setups, links, name),
        unrated=[setup for setup in setups if not setup.summary.main_rate],
        setups=setups,
        of=of,
        matrix=_matrix(setups, links, name) if len(rows) <= _SQUARES else None,
        kinds={_square_kind(row) for row in rows} | {"flagged" for row in rows if row.flagged},
        failed=_failed(rows, of),
        charts=_charts(setups),
        findings=[row for row in rows if row.flagged or row.worst == "failed"][:SHOWN],
        rows=chosen if site.static else chosen[(page - 1) * SHOWN : page * SHOWN],
        all_rows=rows,
        found=len(chosen),
        page=page,
        pages=1 if site.static else -(-len(chosen) // SHOWN),
        query=query,
        choices={
            "agent": {row.record.label: setup.name for setup in setups for row in setup.rows[:1]},
            "competition": {row.record.competition: row.record.competition for row in rows},
            "state": {state: state for state in group.states},
        },
        orders=list(_KEYS),
    )


def _winners(setups: Sequence[Setup], links: Links, group: str) -> list[Winners]:
    """The report's charts; a rate leads to its setup's runs, the best first."""
    of = {setup.letter: setup for setup in setups}

    def linked(row: RateRow) -> RateRow:
        label = of[row.letter].found.first.label
        runs = "#runs" if links.static else f"{links.group(group, agent=label, sort='score')}#runs"
        return evolve(row, letter=row.letter if len(of) > 1 else "", link="", evidence=runs)

    rated = [setup.summary for setup in setups if setup.summary.main_rate]
    found = winners(rated, {letter: setup.number for letter, setup in of.items()})
    return [evolve(chart, rows=tuple(map(linked, chart.rows))) for chart in found]


def _names(rows: Sequence[Row]) -> list[str]:
    """What the setups of a group are called."""
    firsts = {(row.record.label, row.record.agent.name): row.record for row in reversed(rows)}
    return names(list(reversed(firsts.values())))


def _failed(rows: Sequence[Row], of: Mapping[str, Setup]) -> list[Failed]:
    """Runs without a valid submission by cause, the most frequent first."""
    by_name = {row.record.name: row for row in rows}
    ended = [graded(row) for row in rows if row.record.settled or row.record.state == "collected"]
    return [
        Failed(
            kind=each.kind,
            cause=_cause(each, by_name),
            count=len(each.runs),
            runs=[(of[name], by_name[name]) for name in each.runs[:_NAMED]],
            said="" if each.kind == "invalid submission" else last_words(by_name[each.runs[0]].record.folder),
        )
        for each in failures(ended)
    ]


def _cause(found: Failure, rows: Mapping[str, Row]) -> str:
    """Why a submission was invalid: in the grader's words if all runs share them, else without numbers and names."""
    reasons = {row.report.reason for name in found.runs if (row := rows[name]).report}
    return reasons.pop() if found.kind == "invalid submission" and len(reasons) == 1 else found.cause


def _with_calls(site: Site, row: Row) -> Row:
    """With what the models of an active run have used so far."""
    calls = site.live.known(row.record)
    return evolve(row, record=evolve(row.record, usage=calls.usage)) if calls else row


def _page(query: Mapping[str, str], count: int) -> int:
    given = query.get("page", "1")
    return min(
        max(1, int(given) if given.isascii() and given.isdigit() and len(given) < 7 else 1), max(1, -(-count // SHOWN))
    )


def _filter(query: Mapping[str, str]) -> Callable[[Row], bool]:
    wanted = {"label": query.get("agent"), "competition": query.get("competition"), "state": query.get("state")}
    text = query.get("text", "").lower()

    def keeps(row: Row) -> bool:
        record = row.record
        if any(value and getattr(record, name) != value for name, value in wanted.items()):
            return False
        return not text or text in f"{record.name} {record.state} {record.ended} {row.result} {record.reason}".lower()

    return keeps


def _sorted(rows: list[Row], by: str) -> list[Row]:
    return sorted(rows, key=_KEYS.get(by, _KEYS["plan"]))  # type: ignore[arg-type]


def _matrix(setups: Sequence[Setup], links: Links, group: str) -> dict[str, list[list[Square]]]:
    """Competition -> for each setup, a square a seed."""
    cells: dict[str, list[list[Square]]] = {}
    for number, setup in enumerate(setups):
        for row in setup.rows:
            of = cells.setdefault(row.record.competition, [[] for _ in setups])
            of[number].append(_square(setup, row, links.run(group, row.record.name)))
    return dict(sorted(cells.items()))


def _square(setup: Setup, row: Row, link: str) -> Square:
    record = row.record
    words = f"{setup.name}, {record.competition}, seed {record.seed}: {row.result}"
    words += f", {row.score:g}" if row.score is not None else ""
    words += f" ({record.reason})" if record.reason and row.report is None else ""
    words += ", flagged" if row.flagged else ""
    return Square(kind=_square_kind(row), words=one_line(words), link=link, flagged=row.flagged)


def _square_kind(row: Row) -> str:
    kind = results.kind_of(row)
    return _SQUARE.get(kind, kind)


def _charts(setups: Sequence[Setup]) -> list[tuple[str, Markup]]:
    """Caption and chart; those that have something to show."""
    found = [("Runs that have ended, over time", _ended_chart(setups)), ("Cost and result", _cost_chart(setups))]
    return [(caption, chart) for caption, chart in found if chart]


def _ended_chart(setups: Sequence[Setup]) -> Markup:
    starts = [at for setup in setups for row in setup.rows if (at := _started(row)) is not None]
    if not starts:
        return Markup("")
    first, lines = min(starts), []
    for setup in setups:
        ends = sorted(
            (row.ended_at - first) / 3600 for row in setup.rows if row.record.settled and row.ended_at is not None
        )
        points = [(0.0, 0.0), *((at, float(count)) for count, at in enumerate(ends, 1))]
        thinned = [*points[:: max(1, len(points) // _POINTS)], points[-1]]
        lines += [Line(name=setup.letter, points=thinned, number=setup.number, step=True)] if ends else []
    if not lines:
        return Markup("")
    return line_chart(
        lines, Scale(label="hours since the first start", low=0.0), Scale(label="runs", low=0.0, ticks=_whole(lines))
    )


def _whole(lines: Sequence[Line]) -> Sequence[float]:
    """Ticks of a small number of runs, of which there are no fractions; none: the chart's own."""
    most = max(round(line.points[-1][1]) for line in lines)
    return range(most + 1) if most <= 10 else ()


def _cost_chart(setups: Sequence[Setup]) -> Markup:
    """Each run's result by what it cost; by its hours where no cost is known."""
    placed = [(setup, row, row.position) for setup in setups for row in setup.rows if row.position is not None]
    in_dollars = any(row.cost for _, row, _ in placed)
    points = [
        Point(x=x, y=y, words=one_line(f"{row.record.name}: {y:.2f}"), number=setup.number)
        for setup, row, y in placed
        if (x := row.cost if in_dollars else (row.record.seconds or 0.0) / 3600) is not None
    ]
    if len(points) < 2:
        return Markup("")
    across = Scale(label="US dollars" if in_dollars else "hours", low=0.0)
    return scatter_chart(points[:_POINTS], across, Scale(label="from sample (0) to gold (1)", low=0.0, high=1.0))


def _started(row: Row) -> float | None:
    at = moment(row.record.attempts[0].started_at) if row.record.attempts else None
    return at.timestamp() if at else None
