"""How setups compare: in pairs, on two editions, and with the published entries."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence

from mle_ext_report.cells import FLAGGED, NONE, Section, interval, number, out_of, p_value, rate_name, section
from mle_ext_report.compare import Change, Comparison
from mle_ext_report.document import Document
from mle_ext_report.published import SPLITS
from mle_ext_report.statistics import LEVEL
from mlecore.util.units import counted


def pairs(comparisons: Sequence[Comparison], main: bool = False) -> Section:
    """A row per pair and rate; ``main``: only the rate that the setups were run for, the surest differences first."""
    chosen = sorted(comparisons, key=_p) if main else comparisons
    header = ["PAIR", "RATE", "COMPETITIONS", "FIRST %", "SECOND %", "DIFFERENCE", f"{LEVEL} % INTERVAL"]
    header += ["p", "SMALLEST p", "p (HOLM)", "WINS BY SCORE", f"{LEVEL} % INTERVAL OF WINS"]
    rows = [
        (
            f"{found.a} - {found.b}",
            rate_name(row.rate) + f", {FLAGGED}" * row.without_flagged,
            out_of(row.competitions, found.planned),
            f"{row.a:.1f}",
            f"{row.b:.1f}",
            f"{row.difference:+.1f}",
            interval(row.interval),
            p_value(row.p),
            NONE if main else p_value(row.smallest_p),
            NONE if row.p_holm is None else p_value(row.p_holm),
            number(found.a_wins, 2),
            NONE if main else interval(found.a_wins_interval, 2),
        )
        for found in chosen
        for row in found.differences[: 1 if main else None]
    ]
    notes = [f"{of.a} - {of.b} differ by plan: {of.planned_words()}." for of in comparisons if of.by_plan]
    notes += _not_compared(comparisons)
    without = [f"{found.a} - {found.b}" for found in comparisons if not found.competitions]
    if without:
        notes.append(f"Not compared, as no competition has graded runs of both: {', '.join(without)}.")
    if any(found.competitions < found.planned for found in comparisons):
        notes.append("Pairs are compared where both have graded runs; --pad-missing counts missing runs as failures.")
    return section("pairs", "Pairs of setups", header, rows, notes)


def _p(found: Comparison) -> tuple[float, float]:
    if not found.differences:
        return 2.0, 0.0
    first = found.differences[0]
    return first.p, -abs(first.difference)


def _not_compared(comparisons: Sequence[Comparison]) -> list[str]:
    """Why pairs are not compared, each reason with its pairs."""
    found: dict[tuple[str, str, str], list[str]] = {}
    for comparison in comparisons:
        if comparison.differ:
            differ = "; ".join(f"{name}: {' | '.join(values)}" for name, values in comparison.differ.items())
            what = "Compared although" if comparison.differences else "Not comparable, as"
            mixable = not comparison.differences and "edition" not in comparison.differ
            reason = (what, differ, " --mix compares them anyway." if mixable else "")
            found.setdefault(reason, []).append(f"{comparison.a} - {comparison.b}")
    return [
        f"{what} conditions differ: {', '.join(keys)} ({differ}).{more}" for (what, differ, more), keys in found.items()
    ]


def editions(document: Document) -> Section:
    """A row per competition and pair of setups of one agent on two editions."""
    header = ["PAIR", "COMPETITION", "MEDALS", "SCORE BEFORE", "SCORE AFTER", "DIFFERENCE", "POSITION BEFORE"]
    header += ["POSITION AFTER", "WHAT CHANGED"]
    rows = [
        (
            f"{row.a} - {row.b}",
            row.competition,
            row.comparability or NONE,
            number(row.a_score, 5),
            number(row.b_score, 5),
            NONE if row.difference is None else f"{row.difference:+.5f}",
            number(row.a_position, 2),
            number(row.b_position, 2),
            row.changes or NONE,
        )
        for row in document.editions
    ]
    return section("editions", "The same agent on two editions", header, rows, _notes(document))


def _notes(document: Document) -> Iterator[str]:
    edition = {setup.key: setup.edition for setup in document.setups}
    pairs = dict.fromkeys((row.a, row.b) for row in document.editions)
    for a, b in pairs:
        rows = [row for row in document.editions if (row.a, row.b) == (a, b)]
        yield f"{a} - {b}: from {edition[a]} to {edition[b]}{_apart(rows)}."
    if pairs:
        yield "Editions differ in data, checks or metrics: their scores are not averaged, nor tested for a difference."


def _apart(rows: Sequence[Change]) -> str:
    """How far apart the editions are, on the scale that all competitions share."""
    both = [
        (row.a_position, row.b_position) for row in rows if row.a_position is not None and row.b_position is not None
    ]
    if not both:
        return ""
    a, b = (statistics.fmean(places) for places in zip(*both, strict=True))
    return f", mean position {a:.2f} to {b:.2f} ({b - a:+.2f}) over {counted(len(both), 'competition')}"


def published_entries(document: Document) -> Section:
    lines = [
        (
            entry.rates["all"][0],
            (
                entry.agent,
                entry.models,
                *(f"{mean:.2f} ± {sem:.2f}" for mean, sem in (entry.rates[split] for split in SPLITS)),
                f"{entry.hours:g}",
                entry.date,
                "yes" if entry.known_leak else "no",
                "yes" if entry.reports_available else "no",
            ),
        )
        for entry in document.published
    ]
    for own in document.own:
        shown = [own.rates[split].rounded(2) if split in own.rates else NONE for split in SPLITS]
        place = own.rates["all"].mean if "all" in own.rates else -1.0
        lines.append((place, (f"→ {own.name}", own.small_print, *shown, "", document.created_at[:10], "", "")))
    header = ("AGENT", "MODELS", *(f"{split.upper()} %" for split in SPLITS), "HOURS", "DATE", "KNOWN LEAK", "REPORTS")
    notes = [f"± is one standard error over seeds. Source: {document.published_source}."]
    rows = [cells for _, cells in sorted(lines, key=lambda line: -line[0])]
    return section("published", "Any medal, among the published entries", header, rows, notes * bool(rows))


def not_comparable(document: Document) -> Section:
    """Each reason once, with the setups that it holds for."""
    found: dict[str, list[str]] = {}
    for own in document.own:
        for reason in own.not_comparable:
            found.setdefault(f"{reason[0].upper()}{reason[1:]}.", []).append(own.key)
    notes = [f"{', '.join(keys)}: {reason}" for reason, keys in found.items()]
    return section("not-comparable", "Why setups do not compare with the published entries", (), (), notes)
