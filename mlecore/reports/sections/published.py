"""The sections that place setups among the published entries."""

from __future__ import annotations

from mlecore.reports.cells import NONE
from mlecore.reports.document import Document
from mlecore.reports.published import SPLITS
from mlecore.reports.sections.section import Section, section


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
        lines.append((place, (f"→ {own.key}", own.title, *shown, "", document.created_at[:10], "", "")))
    header = ("AGENT", "MODELS", *(f"{split.upper()} %" for split in SPLITS), "HOURS", "DATE", "KNOWN LEAK", "REPORTS")
    notes = [f"± is one standard error over seeds. Source: {document.published_source}."]
    rows = [cells for _, cells in sorted(lines, key=lambda line: -line[0])]
    return section("published", "Any medal, among the published entries", header, rows, notes * bool(rows))


def not_comparable(document: Document) -> Section:
    """A reason that holds for several setups stands once."""
    found: dict[str, list[str]] = {}
    for own in document.own:
        for reason in own.not_comparable:
            found.setdefault(f"{reason[0].upper()}{reason[1:]}.", []).append(own.key)
    notes = [f"{', '.join(keys)}: {reason}" for reason, keys in found.items()]
    return section("not-comparable", "Why setups do not compare with the published entries", (), (), notes)
