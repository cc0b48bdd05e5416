"""Two runs side by side: what differs, scores over time, snapshots, what the models did, code."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from mle_ext_report.graded import read_graded

from mlecore.model.record import RunRecord
from mlecore.util.units import show_duration

from . import code
from .conversation import Conversations, page_of
from .history import snapshots_of
from .places import Missing
from .run_page import full_record, score_over_time
from .setups import setups_of
from .site import Site

_FILES = 40  # of two runs
_STEPS = 200  # of each run


def compare_page(site: Site, conversations: Conversations, first: str, second: str) -> str:
    """Two runs, each as GROUP/RUN."""
    records = [full_record(site, *_names(name)) for name in (first, second)]
    graded = [read_graded(record) for record in records]
    facts = [_facts(record) for record in records]
    keys = _keys(site, records)
    return site.render(
        "compare.html",
        0,
        title=f"{first} and {second}",
        keys=keys,
        runs=list(zip((first, second), records, graded, strict=True)),
        facts=[(name, facts[0][name], facts[1][name]) for name in facts[0]],
        history=score_over_time([(*key, each) for key, each in zip(keys, graded, strict=True)]),
        snapshots=list(zip_longest(*(snapshots_of(each, site.runs) for each in graded))),
        steps=list(zip_longest(*(conversations.answers(record, site.logs_of(record), _STEPS) for record in records))),
        page_of=page_of,
        files=list(_file_changes(site, *records)),
    )


def _names(name: str) -> tuple[str, str]:
    group, slash, run = name.partition("/")
    if not slash:
        raise Missing(f"{name[:200]!r} names no run: write GROUP/RUN")
    return group, run


def _keys(site: Site, records: Sequence[RunRecord]) -> list[tuple[str, int]]:
    """Letters and colours of two setups of a group; else 1 and 2, with colours of their own."""
    groups = {record.folder.parent.name for record in records}
    found: list[tuple[str, int]] = []
    if len(groups) == 1:
        setups = setups_of(list(site.catalogue.group(groups.pop()).look().rows.values()))
        of = {row.record.name: (setup.letter, setup.number) for setup in setups for row in setup.rows}
        found = [of[record.name] for record in records if record.name in of]
    return found if len(set(found)) == 2 else [("1", 0), ("2", 1)]


def _facts(record: RunRecord) -> dict[str, str]:
    usage, report = record.usage, record.report
    return {
        "agent": f"{record.label} {record.agent.version}".strip(),
        "options": ", ".join(f"{name}={value}" for name, value in record.agent.options.items()),
        "model": record.model or "",
        "competition": f"{record.competition} {record.edition}",
        "seed": str(record.seed),
        "state": record.state,
        "ended": f"{record.ended or ''} {record.reason}".strip().replace("_", " "),
        "score": (report.score_text or report.status) if report else "",
        "medal": ((report.medal or "none") if report.gold_threshold is not None else report.reference_words)
        if report
        else "",
        "time": "" if record.seconds is None else show_duration(record.seconds),
        "attempts": str(len(record.attempts)),
        "model calls": str(record.calls.calls) if record.calls else "",
        "input tokens": f"{usage.input_tokens:,}" if usage and usage.input_tokens is not None else "",
        "output tokens": f"{usage.output_tokens:,}" if usage and usage.output_tokens is not None else "",
        "US dollars": f"{usage.cost_usd:,.4f}" if usage and usage.cost_usd is not None else "",
        "CPUs": f"{record.hardware.cpus:g}" if record.hardware.cpus else "",
        "network": record.network,
        "backend": record.backend.name,
    }


def _file_changes(
    site: Site, first: RunRecord, second: RunRecord
) -> Iterator[tuple[str, str, Sequence[code.Change], bool]]:
    """Code files that both runs have or one has: path, in which run, changes."""
    sides = [
        {file.path for file in code.listed(record.folder, ("code",))[0] if file.is_code} for record in (first, second)
    ]
    for path in sorted(sides[0] | sides[1])[:_FILES]:
        texts = []
        for record, side in zip((first, second), sides, strict=True):
            try:
                texts.append(code.text_of(record.folder, path, site.runs)[0] if path in side else "")
            except Missing:
                texts.append("")
        lines, cut = code.changes(*texts)
        where = "both" if path in sides[0] & sides[1] else "the first" if path in sides[0] else "the second"
        yield path, where, lines, cut
