"""The pages below a run's: its log, its files, its model calls, its record; and two runs side by side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, BinaryIO

from mlecore.model.record import SETTLED

from . import code, logs
from .conversation import Conversations
from .output import Outputs
from .places import Missing
from .run_page import full_record, record_files
from .site import Site


def log_page(
    site: Site, outputs: Outputs, group: str, run: str, query: Mapping[str, str], most: int = logs.PIECE
) -> str:
    """``query``: from or to (bytes), q (a word). ``most``: bytes that are shown."""
    record = full_record(site, group, run)
    file, why = outputs.open(record)
    with file:
        piece = _piece(file, query, most)
        found = logs.search(file, query["q"], number(query, "after")) if query.get("q") else None
    return site.render(
        "log.html",
        3,
        title=f"Log of {run}",
        live="log.part" if record.state == "running" and piece.end == piece.size and found is None else "",
        group=group,
        record=record,
        piece=piece,
        found=found,
        why=why,
        query=query,
    )


def log_part(site: Site, outputs: Outputs, group: str, run: str, query: Mapping[str, str]) -> dict[str, Any]:
    """What was printed after a byte, as HTML, for a page that is open."""
    record = full_record(site, group, run)
    start, ended = number(query, "from"), record.state in ("collected", *SETTLED)
    try:
        file, _ = outputs.open(record)
    except Missing:
        if ended:
            raise
        return {"html": "", "end": start, "ended": False}  # it is being collected
    with file:
        if start >= logs.size_of(file):
            return {"html": "", "end": start, "ended": ended}
        piece = logs.piece_from(file, start)
    return {"html": "\n".join(piece.lines), "end": piece.end, "ended": False}


def _piece(file: BinaryIO, query: Mapping[str, str], most: int) -> logs.Piece:
    if "from" in query:
        return logs.piece_from(file, number(query, "from"), most)
    return logs.piece_before(file, number(query, "to") if "to" in query else logs.size_of(file), most)


def number(query: Mapping[str, str], name: str) -> int:
    """A number in an address; 0 for anything else."""
    given = query.get(name, "")
    return int(given) if given.isascii() and given.isdigit() and len(given) < 16 else 0


def code_page(site: Site, group: str, run: str) -> str:
    record = full_record(site, group, run)
    files, more = code.listed(record.folder, most=code.IN_FOLDER if site.static else code.LISTED)
    return site.render("code.html", 3, title=f"Files of {run}", group=group, record=record, files=files, more=more)


def file_page(site: Site, group: str, run: str, path: str) -> str:
    record = full_record(site, group, run)
    shown = code.shown(record.folder, path, site.runs)
    return site.render("file.html", 3, title=path, group=group, record=record, shown=shown)


def changes_page(site: Site, group: str, run: str, query: Mapping[str, str]) -> str:
    """``query``: a and b, two files of the run."""
    record = full_record(site, group, run)
    before, after = query.get("a", ""), query.get("b", "")
    lines, cut = code.changes(*(code.text_of(record.folder, path, site.runs)[0] for path in (before, after)))
    return site.render(
        "changes.html",
        3,
        title=f"{before} and {after}",
        group=group,
        record=record,
        before=before,
        after=after,
        lines=lines,
        cut=cut,
    )


def calls_page(site: Site, conversations: Conversations, group: str, run: str, page: int) -> str:
    record = full_record(site, group, run)
    part = conversations.part(record, site.logs_of(record), max(1, page))
    return site.render("calls.html", 3, title=f"Model calls of {run}", group=group, record=record, part=part)


def record_page(site: Site, group: str, run: str) -> str:
    record = full_record(site, group, run)
    files = [(name, code.highlighted(code.pretty(content), ".json")) for name, content in record_files(site, record)]
    return site.render("record.html", 3, title=f"Record of {run}", group=group, record=record, files=files)
