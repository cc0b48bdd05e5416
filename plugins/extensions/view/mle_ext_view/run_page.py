"""The page of one run: its score, or why it failed; then how it came there, and what there is of it."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from attrs import evolve, frozen
from markupsafe import Markup
from mle_ext_report.cells import one_line
from mle_ext_report.graded import Graded, read_graded
from mle_ext_report.pages.charts import Line, line_chart
from mle_ext_report.pages.scale import Scale
from mle_ext_report.pages.strips import Axis, Dot, score_strip, strip_scale
from mle_ext_report.percentile import MARKS

from mlecore.controller.output import saved
from mlecore.errors import MlecoreError
from mlecore.model.detectors import Evidence
from mlecore.model.findings import place
from mlecore.model.record import RunRecord
from mlecore.model.report import Report
from mlecore.runs.findings import read_findings
from mlecore.runs.folders import RECORD
from mlecore.runs.journal import Journal

from .code import IN_FOLDER, listed
from .conversation import has_conversation
from .history import at_end, snapshots_of
from .logs import piece_before, size_of
from .places import Missing, open_file, read_start
from .setups import Setup, setups_of
from .site import Links, Site
from .verdict import verdict

_EVENTS = 500  # that are shown
_FIRST_ROWS = 8
_OTHERS = 20  # runs to compare with
_DOTS = 200  # of other runs, in a strip
_TAIL, _TAIL_BYTES = 20, 16 << 10  # lines of the end of a log, and bytes in which they are looked for
_START = 64 << 10  # bytes in which a file's first rows are


@frozen(kw_only=True)
class FirstRows:
    """The beginning of a table."""

    rows: list[list[str]]
    size: int  # bytes of the whole file
    missing: str = ""  # why there is none


def full_record(site: Site, group: str, run: str) -> RunRecord:
    """Raises Missing."""
    return site.catalogue.group(group).row(run).record


def run_page(site: Site, group: str, name: str) -> str:
    """Raises Missing."""
    record = full_record(site, group, name)
    if record.state == "running" and not site.static:
        record = evolve(record, calls=site.live.look(record))
    graded = read_graded(record)
    links = Links(3, site.static)
    linked = {file.path for file in listed(record.folder, most=IN_FOLDER)[0]} if site.static else None
    found, damaged = read_findings(record)
    runs = site.catalogue.group(group).look()
    setups = setups_of(list(runs.rows.values()))
    setup = next((each for each in setups if any(row.record.name == record.name for row in each.rows)), None)
    failed = verdict(record, graded.report, site.where)
    return site.render(
        "run.html",
        3,
        title=name,
        live="" if record.settled else links.events(group, name),
        group=group,
        record=record,
        elapsed=record.elapsed(datetime.now(UTC)),
        controlled=runs.controlled,
        setup=setup,
        alone=len(setups) < 2,
        report=graded.report,
        graded=graded,
        verdict=failed,
        tail=_tail(site, record) if failed else [],
        strip=_strip(graded.report, record, setups),
        scale=_scale(graded.report),
        history=score_over_time([("", setup.number if setup else 0, graded)]),
        thresholds=_thresholds(graded.report),
        events=_events(record),
        submission=_first_rows(site, record),
        sample=_sample(record),
        findings=found,
        damaged=damaged,
        evidence=lambda evidence: _evidence(links, group, name, evidence, linked),
        place=place,
        snapshots=snapshots_of(graded, site.runs),
        linked=linked,
        has_conversation=has_conversation(site.logs_of(record)),
        others=_others(site, group, record),
    )


def _tail(site: Site, record: RunRecord) -> list[Markup]:
    """The last lines of the output."""
    path = saved(record)
    if path is None:
        return []
    try:
        with open_file(path, site.runs) as file:
            lines = piece_before(file, size_of(file), _TAIL_BYTES).lines
    except Missing:
        return []
    return lines[-_TAIL:]


def _thresholds(report: Report | None) -> dict[str, float]:
    """Name -> score, the known ones: of humans, else those of agents, which are called reference scores."""
    if report is None:
        return {}
    values = _axis(report)
    prefix = "reference " if report.reference else ""
    known = ((name, getattr(values, name)) for name in MARKS)
    return {name if name == "sample" else f"{prefix}{name}": value for name, value in known if value is not None}


def _axis(report: Report) -> Axis:
    """From the sample to gold, and to the best human."""
    found = report.reference
    limits = {name: getattr(found, name) if found else getattr(report, f"{name}_threshold") for name in MARKS[1:]}
    return Axis(sample=report.sample_score, best=report.best_human, lower_is_better=report.is_lower_better, **limits)


def _strip(report: Report | None, record: RunRecord, setups: Sequence[Setup]) -> Markup:
    """The score on its way from the sample to gold, among the group's other scores, which are smaller and grey."""
    if report is None or report.exact is None or not _thresholds(report):
        return Markup("")
    dots, number = [], 0
    for setup in setups:
        for row in setup.rows:
            if row.record.name == record.name:
                number = setup.number
            elif row.record.competition == record.competition and row.score is not None:
                dots.append(Dot(score=row.score, words=one_line(f"{row.record.name}: {row.score:g}")))
    axis = _axis(report)
    if report.gold_threshold is None:
        axis = evolve(axis, best=(min if report.is_lower_better else max)([report.exact, *(dot.score for dot in dots)]))
    own = Dot(score=report.exact, words=f"{record.name}: {report.score_text}", number=number)
    return score_strip(axis, [*dots[:_DOTS], own], own.words)


def _scale(report: Report | None) -> Markup:
    """The names of the steps of the strip."""
    human = report is not None and report.gold_threshold is not None
    return strip_scale(human or bool(report and report.reference), "best human" if human else "best run")


def score_over_time(runs: Sequence[tuple[str, int, Graded]]) -> Markup:
    """From graded snapshots, of each run with its name and the number of its colour; empty without any."""
    by_run = [
        (name, number, [at for at in (*graded.history, *filter(None, [at_end(graded)])) if at.score is not None])
        for name, number, graded in runs
        if graded.history
    ]
    longest = max((at.seconds for _, _, moments in by_run for at in moments), default=0.0)
    unit, size = ("hours", 3600) if longest > 2 * 3600 else ("minutes", 60)
    lines = [
        Line(
            name=name,
            points=[(at.seconds / size, at.score) for at in moments if at.score is not None],
            number=number,
            step=True,
        )
        for name, number, moments in by_run
        if moments
    ]
    report = next((graded.report for _, _, graded in runs if graded.report), None)
    if not lines:
        return Markup("")
    return line_chart(lines, Scale(label=unit, low=0.0), Scale(label="score", marks=_thresholds(report)))


def _events(record: RunRecord) -> list[dict[str, Any]]:
    """The run's events, the last ones; each with its details in words."""
    shown: list[dict[str, Any]] = []
    for event in Journal(record.folder.parent).read(run=record.name):
        details = {key: value for key, value in event.items() if key not in ("at", "run", "event")}
        words = ", ".join(f"{key}: {value}" for key, value in details.items())
        shown.append({"at": str(event.get("at")), "event": str(event.get("event")), "details": words})
    return shown[-_EVENTS:]


def _first_rows(site: Site, record: RunRecord) -> FirstRows:
    path = record.submission
    if path is None:
        return FirstRows(rows=[], size=0, missing="there is no submission")
    try:
        content, size = read_start(path, site.runs, _START)
    except Missing as error:
        return FirstRows(rows=[], size=0, missing=str(error))
    return FirstRows(rows=_rows(content), size=size)


def _sample(record: RunRecord) -> FirstRows:
    """First rows of the sample submission, where the competition and its data are on this machine."""
    from mlecore.data.layout import DataDirs
    from mlecore.data.opening import open_prepared
    from mlecore.model.sample import open_sample
    from mlecore.plugins.competitions import competition

    try:
        target = competition(record.competition, record.edition)
        data = open_prepared(target, DataDirs.of(_data(record)), synthetic=record.synthetic, verified=False)
        with open_sample(target.facts, data.public) as path, path.open("rb") as file:
            return FirstRows(rows=_rows(file.read(_START)), size=path.stat().st_size)
    except (MlecoreError, OSError) as error:
        return FirstRows(rows=[], size=0, missing=str(error).splitlines()[0])


def _data(record: RunRecord) -> Sequence[str]:
    from mlecore.runs.store import open_group

    try:
        return open_group(record.folder.parent).info.data
    except MlecoreError:
        return ()


def _rows(content: bytes) -> list[list[str]]:
    lines = islice(io.StringIO(content.decode("utf-8", "replace"), newline=""), _FIRST_ROWS + 1)
    try:
        return [[cell[:60] for cell in row[:12]] for row in csv.reader(lines)]
    except csv.Error:
        return []


def _evidence(links: Links, group: str, run: str, evidence: Evidence, linked: set[str] | None) -> str | None:
    """A link to where a finding shows, if that is in the run and, in a folder, one of its pages."""
    if evidence.of or "/" not in evidence.file or (linked is not None and evidence.file not in linked):
        return None
    if evidence.file == "logs/output.log" and evidence.offset is not None and not links.static:
        return links.run(group, run, "log", **{"from": evidence.offset})
    return links.file(group, run, evidence.file, evidence.line)


def _others(site: Site, group: str, record: RunRecord) -> list[str]:
    """Runs of the group on the same competition, to compare with; in a folder, those of pairs that have a page."""
    runs = site.catalogue.group(group)
    if site.static:
        return [name for pair in runs.pairs() if record.name in pair for name in pair if name != record.name]
    same = (row.record.name for row in runs.rows.values() if row.record.competition == record.competition)
    return [name for name in same if name != record.name][:_OTHERS]


def record_files(site: Site, record: RunRecord) -> Iterator[tuple[str, bytes]]:
    """The JSON files of a run: its record, its grade, what detectors found."""
    names = [RECORD, "grade.json", "grade_error.json", "snapshots.json"]
    names += [f"findings/{name}.json" for name in sorted(read_findings(record)[0])]
    for name in names:
        try:
            yield name, read_start(record.folder / name, site.runs, 256 << 10)[0]
        except Missing:
            continue
