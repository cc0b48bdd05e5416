"""The report in a screen or two of a terminal: what came out, and what casts doubt on it."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterator, Sequence

from mlecore.reports.cells import NONE, RATE_NAMES, interval, number, one_line, p_value, threshold
from mlecore.reports.document import Document, RunLine, SetupSummary
from mlecore.reports.sections.overview import overview
from mlecore.reports.sections.published import not_comparable, published_entries
from mlecore.reports.sections.section import Section
from mlecore.reports.sections.setups import differences
from mlecore.reports.statistics import LEVEL
from mlecore.units import counted

_FINDINGS = 10  # shown; all are in the other forms
_ORDER = ("gold", "silver", "bronze")


def brief(document: Document) -> Iterator[Section]:
    """Sections of a terminal report, those that are not empty."""
    yield overview(document.setups)
    yield _results(document.setups)
    if document.comparisons:
        yield _pairs(document)
    for setup in document.setups:
        if setup.differences:
            yield differences(setup)
    if document.published:
        yield published_entries(document)
        yield from (not_comparable(own) for own in document.own)
    if any(setup.failures for setup in document.setups):
        yield _failures(document.setups)
    if any(line.suspicions for setup in document.setups for line in setup.runs):
        yield _findings(document.setups)
    notes = [f"{setup.key}: {note}" for setup in document.setups for note in setup.notes]
    if notes:
        yield Section(id="notes", title="Notes", notes=tuple(map(one_line, notes)))


def _results(setups: Sequence[SetupSummary]) -> Section:
    """Competitions by setups: the mean score of valid submissions, and what the runs earned."""
    lines: dict[str, dict[str, list[RunLine]]] = {}
    for setup in setups:
        for line in setup.runs:
            lines.setdefault(line.competition, {}).setdefault(setup.key, []).append(line)
    medals = any(setup.no_medals is None for setup in setups)
    header = ("COMPETITION", "METRIC", "SAMPLE", *(["BRONZE", "GOLD"] * medals), *(setup.key for setup in setups))
    rows = []
    for competition, by_setup in sorted(lines.items()):
        some = next((each for runs in by_setup.values() for each in runs if each.score is not None), None)
        some = some or next(iter(by_setup.values()))[0]
        limits = [threshold(some.bronze_threshold), threshold(some.gold_threshold)] * medals
        better = {True: " ↓", False: " ↑", None: ""}[some.lower_is_better]
        cells = (competition, (some.metric or NONE) + better, threshold(some.sample_score), *limits)
        rows.append((*cells, *(_earned(by_setup.get(setup.key, ())) for setup in setups)))
    note = "Scores are means of valid submissions. ↑ higher is better, ↓ lower is better."
    return Section(
        id="results",
        title="Results",
        header=header,
        rows=tuple(tuple(map(one_line, row)) for row in rows),
        notes=(note,),
    )


def _earned(runs: Sequence[RunLine]) -> str:
    """Such as "0.97 (3 of 3 beat the sample)" or "0.62 (1 gold, 2 none)"."""
    if not runs:
        return NONE
    scores = [line.score for line in runs if line.score is not None]
    mean = f"{statistics.fmean(scores):.5f}" if scores else NONE
    if any(line.medal for line in runs):
        found = Counter(line.medal or line.submission for line in runs)
        order = sorted(found, key=lambda name: _ORDER.index(name) if name in _ORDER else len(_ORDER))
        return f"{mean} ({', '.join(f'{found[name]} {name}' for name in order)})"
    beating = sum(line.beats_sample is True for line in runs)
    others = Counter(line.submission for line in runs if line.submission != "valid")
    rest = "".join(f", {count} {name}" for name, count in others.items())
    return f"{mean} ({beating} of {len(runs)} beat the sample{rest})"


def _pairs(document: Document) -> Section:
    """One line per pair of setups: the difference in the rate that they were run for."""
    rows, notes = [], []
    for found in document.comparisons:
        pair = " - ".join(name.split(":")[0] for name in (found.a, found.b))
        main = next((row for row in found.differences if not row.without_flagged), None)
        if main is None:
            notes.append(f"{pair}: not compared, as their conditions differ: {', '.join(found.differ) or 'no runs'}.")
            continue
        p = main.p if main.p_holm is None else main.p_holm
        shown = (f"{main.difference:+.1f}", interval(main.interval), p_value(p), number(found.a_wins, 2))
        rows.append((pair, RATE_NAMES[main.rate], *shown))
    header = ("PAIR", "RATE", "DIFFERENCE %", f"{LEVEL} % INTERVAL", "P", "WINS BY SCORE")
    if rows:
        notes.append("P by a paired permutation test over competitions, corrected by Holm's method for several pairs.")
    return Section(
        id="pairs",
        title="Pairs",
        header=header if rows else (),
        rows=tuple(tuple(map(one_line, row)) for row in rows),
        notes=tuple(map(one_line, notes)),
    )


def _failures(setups: Sequence[SetupSummary]) -> Section:
    rows = [
        (setup.key, failure.kind, failure.cause, str(len(failure.runs)), failure.runs[0])
        for setup in setups
        for failure in setup.failures
    ]
    return Section(
        id="failures",
        title="Runs without a valid submission",
        header=("SETUP", "RESULT", "CAUSE", "RUNS", "FOR EXAMPLE"),
        rows=tuple(tuple(map(one_line, row)) for row in rows),
    )


def _findings(setups: Sequence[SetupSummary]) -> Section:
    """Those that flag a run."""
    rows = [
        (line.run, found.detector, found.verdict, found.summary)
        for setup in setups
        for line in setup.runs
        for found in line.suspicions
    ]
    more = len(rows) - _FINDINGS
    return Section(
        id="findings",
        title="Flagged by detectors",
        header=("RUN", "DETECTOR", "VERDICT", "SUMMARY"),
        rows=tuple(tuple(map(one_line, row)) for row in rows[:_FINDINGS]),
        notes=(f"{counted(more, 'more finding')}.",) * (more > 0),
    )
