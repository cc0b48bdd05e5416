"""The site's pages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup
from mle_ext_report.cells import interval
from mle_ext_report.pages import environment, inline
from mle_ext_report.pages.charts import Line, line_chart
from mle_ext_report.pages.marks import Square, kind
from mle_ext_report.pages.rates import Rate, RateRow, rate_bar, rate_top
from mle_ext_report.pages.scale import Scale
from mle_ext_report.percentile import mark_words
from mle_ext_report.published import SOURCE, SPLITS, published
from mle_ext_sharing.signed import NOT_PROVED, absent

from mle_ext_leaderboard.board import Board
from mle_ext_leaderboard.comment import ordered
from mle_ext_leaderboard.results import Results, RunResult
from mle_ext_leaderboard.tables import TAGS, Goal, Row, Standing, Table
from mlecore.model.record import moment

_HERE = Path(__file__).parent
GOALS: Mapping[Goal, str] = {"any_medal": "Any medal", "beats_sample": "Better than the sample submission"}
_REACH: Mapping[Goal, str] = {
    "any_medal": "earn a medal in Kaggle competitions",
    "beats_sample": "beat the sample submission of competitions",
}
_SHOWN_BY = {
    "signed": "signatures",
    "regraded": "signatures",
    "claimed": "signatures",
    "reran": "signatures",
    "source": "links",
    "first-seeds": "runs",
    "judged": "findings",
    "unflagged": "findings",
}
"""Tag -> the part of an entry's page with its evidence; of the others, the disclosures."""
_BEST, _AROUND = 3, 3  # rows of an entry's chart: the best ones, and on both sides of its own
_VERDICTS = {
    "recorded": "recorded",
    "claim": "claim, not in any record",
    "contradicted": "contradicted by the records",
}


class Pages:
    """Renders pages of one board; templates are compiled once."""

    def __init__(self, board: Board, found: Sequence[Standing], shown: Sequence[Table]) -> None:
        self._board, self._found, self._shown = board, found, shown
        self._templates = environment(_HERE / "templates")
        self._templates.globals |= {"tags": TAGS, "goals": GOALS, "figure": figure, "span": span, "keys": _keys}
        self._templates.globals |= {"mark_words": mark_words}
        self._templates.globals |= {"axis": _axis, "bar": _bar, "shows": lambda tag: _SHOWN_BY.get(tag, "disclosures")}
        css, js = ((_HERE / "templates" / name).read_text(encoding="utf-8") for name in ("board.css", "board.js"))
        self._head = inline(css=css, js=js)
        self._rows: dict[str, list[tuple[Table, Row]]] = {}
        for table in shown:
            for row in table.rows:
                self._rows.setdefault(row.standing.name, []).append((table, row))

    def index(self) -> str:
        """The tables, what is in none of them, and the published results."""
        rows = [_published(entry) for entry in published()] if self._board.rules.published else []
        return self._templates.get_template("index.html").render(
            head=self._head,
            title=self._board.rules.title,
            reach=_REACH[self._shown[0].goal if self._shown else "any_medal"],
            filters=[
                tag for tag in TAGS if any(tag not in each.shared_tags and _carried(tag, each) for each in self._shown)
            ],
            tables=self._shown,
            others=[each for each in self._found if not each.ranked],
            not_proved=NOT_PROVED,
            published_header=("Agent", "Models", "Date", "Hours", "Low", "Medium", "High", "All", "Remarks"),
            published=rows,
            published_source=SOURCE,
        )

    def entry(self, standing: Standing) -> str:
        """One entry's page."""
        check = standing.check
        entry, results = check.entry, check.results
        title = f"{entry.agent} {entry.version}".strip() if entry and entry.agent else standing.name
        return self._templates.get_template("entry.html").render(
            head=self._head,
            title=title or standing.name,
            board=self._board.rules.title,
            standing=standing,
            entry=entry,
            results=results,
            places=[(of, row, _neighbours(of, row), _axis(of)) for of, row in self._rows.get(standing.name, [])],
            remarks=[(remark.level, remark.check, remark.words) for remark in ordered(check.remarks)],
            disclosures=[(line.name, line.claimed, _VERDICTS[line.verdict], line.records) for line in check.lines],
            signed=[_signed(each) for each in check.signed],
            not_proved=NOT_PROVED,
            matrix=matrix(results) if results else [],
            runs=[_run(run) for run in results.runs] if results else [],
            ids=[f"run-{number}" for number in range(len(results.runs))] if results else [],
            chart=_chart(results) if results else None,
            costs=_costs(results) if results else [],
            findings=_findings(results) if results else [],
            conditions=[(name, " / ".join(values)) for name, values in results.conditions.items()] if results else [],
        )


def _axis(table: Table) -> float:
    """Where the axis of a table's bars ends."""
    return rate_top(_rate(table, row) for row in table.rows)


def _bar(table: Table, row: Row, top: float) -> Markup:
    return rate_bar(_rate(table, row), top)


def _rate(table: Table, row: Row) -> Rate:
    place = row.ranked
    low, high = place.interval or (None, None)
    medals = ", ".join(f"{name} {share:.1f} %" for name, share in row.medals)
    words = f"{GOALS[table.goal]}: {place.rate:.1f} %" + (f" ({medals})" if medals else "")
    return Rate(mean=place.rate, words=words, low=low, high=high, medals=row.medals, number=0)


def _neighbours(table: Table, own: Row) -> list[RateRow]:
    """Rows of a chart with an entry's place: the best ones and those around it, all but its own faint."""
    at = table.rows.index(own)
    near = [(n, row) for n, row in enumerate(table.rows) if n < _BEST or abs(n - at) <= _AROUND]
    return [_rate_row(table, row, row is own) for _, row in near]


def _rate_row(table: Table, row: Row, own: bool) -> RateRow:
    entry, place = row.standing.check.entry, row.ranked
    assert entry is not None
    return RateRow(
        name=entry.agent,
        rate=_rate(table, row),
        value=f"{place.rate:.1f} %",
        reach=interval(place.interval) if place.interval else "",
        small=f"rank {place.rank}; {entry.version}, {', '.join(entry.models) or 'no model'}",
        link="" if own else f"{row.standing.name}.html",
        evidence="#runs" if own else "",
        faint=not own,
    )


def _keys(table: Table) -> str:
    """Conditions that the title leaves out, and what identifies data, answers and graders."""
    key = dict(table.conditions)
    words = f"{len(table.ids)} competitions; data {key['data']}; network {key['network']}; "
    return f"{words}digest of data, answers and graders: {key['data digest']}"


def _carried(tag: str, table: Table) -> bool:
    return any(tag in row.standing.tags for row in table.rows)


def figure(value: float | None, digits: int = 1) -> str:
    return "-" if value is None else f"{value:,.{digits}f}"


def span(ranks: tuple[int, int]) -> str:
    return str(ranks[0]) if ranks[0] == ranks[1] else f"{ranks[0]}-{ranks[1]}"


def _published(entry: Any) -> tuple[str, ...]:
    rates = [f"{mean:.1f} ± {error:.1f}" for mean, error in (entry.rates[split] for split in SPLITS)]
    remarks = ["known leak"] if entry.known_leak else []
    remarks += ["source available"] if entry.source_available else []
    return entry.agent, entry.models, _unbroken(entry.date), f"{entry.hours:g}", *rates, ", ".join(remarks)


def _signed(signed: Any) -> tuple[str, str, str, str]:
    said = signed.statement.predicate
    at = moment(said.stated_at)
    when = _unbroken(f"{at:%Y-%m-%d %H:%M} UTC") if at else said.stated_at
    return str(signed.signer), when, str(signed.statement), absent(said.attestations)


def _unbroken(date: str) -> str:
    """With hyphens at which no line ends."""
    return date.replace("-", "\u2011")


def matrix(results: Results) -> list[tuple[str, list[Square]]]:
    """Competition -> a square per seed."""
    found: dict[str, list[Square]] = {}
    for number, run in enumerate(results.runs):
        square = Square(kind=_kind(run), words=_words(run), link=f"#run-{number}", flagged=run.flagged)
        found.setdefault(run.competition, []).append(square)
    return list(found.items())


def _run(run: RunResult) -> tuple[str, ...]:
    """A run's cells: what its squares and the entry's sums are made of."""
    result = run.medal or run.submission or run.state
    return (
        run.competition,
        str(run.seed),
        result,
        run.score,
        figure(run.hours, 2),
        figure(run.usd, 2),
        run.submission_sha256[:12],
    )


def _kind(run: RunResult) -> str:
    medal = run.medal or ("none" if run.ranked else None)
    return kind(run.submission, medal, run.above_median, run.beats_sample)


def _words(run: RunResult) -> str:
    result = f"{run.medal or run.reference or run.submission or run.state} {run.score}".strip()
    return f"seed {run.seed}: {result}" + (f"; {run.findings[0]}" if run.findings else "")


def _chart(results: Results) -> Any:
    """Rates over time; None if no snapshot was graded."""
    if not results.progress:
        return None
    medals = any(medal is not None for _, medal, _ in results.progress)
    name = "any medal" if medals else "better than the sample"
    points = [(hours, (medal or 0.0) if medals else sample) for hours, medal, sample in results.progress]
    label = f"{name}, % of runs"
    return line_chart(
        [Line(name=name, points=points, number=0)],
        x=Scale(label="hours since the start", low=0.0),
        y=Scale(label=label, low=0.0, high=100.0),
    )


def _costs(results: Results) -> list[tuple[str, str]]:
    """Sums over runs; lower bounds where not every run knows."""
    parts = []
    for name, unit, digits in (("hours", "hours", 2), ("usd", "US dollars", 2), ("tokens", "tokens", 0)):
        known = [value for run in results.runs if (value := getattr(run, name)) is not None]
        if known:
            more = f" ({len(known)} of {len(results.runs)} runs say)" if len(known) < len(results.runs) else ""
            parts.append((unit, f"{sum(known):,.{digits}f}{more}"))
    ends = Counter(run.submission or run.state for run in results.runs)
    parts.append(("submissions", ", ".join(f"{count} {name}" for name, count in ends.most_common())))
    return parts


def _findings(results: Results) -> list[tuple[str, str, str]]:
    return [(run.competition, str(run.seed), found) for run in results.runs for found in run.findings]
