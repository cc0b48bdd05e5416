"""One's own results among the published entries, and what keeps them from being compared with those."""

from __future__ import annotations

from collections.abc import Iterable

from mlecore.reports.document import Own, SetupSummary
from mlecore.units import counted


def own(summary: SetupSummary) -> Own:
    """The setup as a line of the published leaderboard."""
    rates = {}
    for row in (split.rates for split in summary.rates):
        any_medal = row.rates["any_medal"]
        if row.split != "these" and any_medal is not None:
            rates[row.split.lower()] = any_medal
    return Own(key=summary.key, title=summary.title, rates=rates, not_comparable=tuple(_not_comparable(summary)))


def _not_comparable(summary: SetupSummary) -> Iterable[str]:
    """What keeps a setup from being compared with the published entries."""
    if not summary.averaged:
        yield "its own runs differ in their conditions"
    if summary.no_medals:
        yield "its data earn no medals"
    edition = summary.conditions.get("edition")
    if edition not in (None, "v1"):
        yield f"edition {edition} of the competitions; published entries ran v1"
    complete = [row.rates for row in summary.rates if row.rates.split == "All"]
    if not complete or not complete[0].seeds:
        yield "no seed covers all 75 competitions"
    yield from (f"{row.rates.split} counts {row.rates.left_out}" for row in summary.rates if row.rates.left_out)
    for row in complete:
        if 0 < len(row.seeds) < 3:
            yield f"{len(row.seeds)} of the 3 seeds that entries needed"
        if row.incomplete and row.seeds:
            what = "padded with failures" if row.padded else "left out"
            yield f"{len(row.incomplete)} of {len({*row.seeds, *row.incomplete})} seeds are incomplete and {what}"
    limit = summary.conditions.get("time limit", "different limits")
    if limit != "24h":
        yield f"time limit {limit}; most entries ran 24 h, some 12 or 36 h"
    yield "network access and hardware of the entries differ (from one V100 to two H100s) and are not recorded"
    if summary.flagged:
        yield f"detectors flagged {counted(summary.flagged, 'run')}"
