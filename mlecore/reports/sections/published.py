"""The sections that place setups among the published entries."""

from __future__ import annotations

from mlecore.reports.cells import NONE, one_line
from mlecore.reports.document import Document, Own
from mlecore.reports.published import SPLITS
from mlecore.reports.sections.section import Section


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
    return Section(
        id="published",
        title="Any medal, among the published entries",
        header=header,
        rows=tuple(tuple(map(one_line, cells)) for _, cells in sorted(lines, key=lambda line: -line[0])),
        notes=(f"± is one standard error over seeds. Source: {document.published_source}.",),
    )


def not_comparable(own: Own) -> Section:
    return Section(
        id="not-comparable",
        title=f"What keeps {own.key} from comparing with them",
        notes=tuple(f"{reason[0].upper()}{reason[1:]}." for reason in map(one_line, own.not_comparable)),
    )
