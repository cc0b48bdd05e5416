"""How runs ended, counted: one bar of all of them, and a few words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from markupsafe import Markup
from mle_ext_report.pages.marks import kind
from mle_ext_report.pages.rates import Rate, rate_bar

from mlecore.util.units import counted

from .rows import Row

KINDS = {
    "gold": "gold",
    "silver": "silver",
    "bronze": "bronze",
    "above": "above the median",
    "beats": "better than the sample",
    "valid": "valid",
    "failed": "without a valid submission",
    "lost": "failed or cancelled",
    "running": "running",
    "waiting": "waiting",
}
"""Kind of a run in a bar, the best first -> its name."""


def kind_of(row: Row) -> str:
    """One of KINDS."""
    record, report = row.record, row.report
    if record.state == "graded":
        if report is None:
            return "failed"
        medal = report.medal or (None if report.gold_threshold is None else "none")
        submission = "valid" if report.status == "graded" else report.status
        return kind(submission, medal, report.above_median, report.beats_sample)
    if record.state in ("failed", "cancelled"):
        return "lost"
    return "waiting" if record.state in ("planned", "waiting") else "running"


def kinds(rows: Iterable[Row]) -> set[str]:
    """Those that occur."""
    return set(map(kind_of, rows))


def bar(rows: Iterable[Row]) -> Markup:
    """All runs, stacked by what they came to."""
    counts = Counter(map(kind_of, rows))
    total = counts.total() or 1
    shares = [(name, 100 * counts[name] / total) for name in KINDS]
    words = ", ".join(f"{counts[name]} {what}" for name, what in KINDS.items() if counts[name])
    return rate_bar(Rate(mean=100.0, medals=shares, words=words or "no runs"))


def words(rows: Iterable[Row]) -> str:
    """Such as "12 medals · 48 beat the sample · 84 without a valid submission"."""
    rows = list(rows)
    by_kind, states = Counter(map(kind_of, rows)), Counter(row.record.state for row in rows)
    reports = [row.report for row in rows if row.report and row.record.state == "graded"]
    medals = sum(report.any_medal for report in reports)
    beats = sum(bool(report.beats_sample) for report in reports)
    parts = []
    if any(report.gold_threshold is not None for report in reports):
        parts.append(counted(medals, "medal") if medals else "no medal")
    if reports:
        parts.append(f"{beats or 'none'} beat{'' if beats > 1 else 's'} the sample")
    counts = [(by_kind["failed"], "without a valid submission")]
    counts += [(states[state], state) for state in ("failed", "cancelled")]
    counts += [(by_kind[name], name) for name in ("running", "waiting")]
    return " · ".join([*parts, *(f"{count} {name}" for count, name in counts if count)])
