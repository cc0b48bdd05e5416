"""An Atom feed (RFC 4287) of entries, corrections and retractions, the newest first."""

from __future__ import annotations

import hashlib
from xml.etree import ElementTree

from mle_ext_leaderboard.board import Board
from mle_ext_leaderboard.entry import Entry
from mle_ext_leaderboard.tables import Standing

_ATOM = "http://www.w3.org/2005/Atom"
_MOST = 100


def atom(board: Board, found: list[Standing]) -> bytes:
    """Without an address in the rules, ids are URNs and links are relative."""
    address = board.rules.address.rstrip("/")
    root = address or f"urn:mlecore:leaderboard:{hashlib.sha256(board.rules.title.encode()).hexdigest()[:16]}"
    ElementTree.register_namespace("", _ATOM)
    feed = ElementTree.Element(f"{{{_ATOM}}}feed")
    entries = [(each, each.check.entry) for each in found if each.check.entry and not each.check.exit_code]
    entries.sort(key=lambda pair: (pair[1].date if pair[1] else "", pair[0].name), reverse=True)
    newest = next((entry.date for _, entry in entries if entry), "2026-01-01")
    _add(feed, "id", f"{root}/" if address else root)
    _add(feed, "title", board.rules.title)
    _add(feed, "updated", f"{newest}T00:00:00Z")
    ElementTree.SubElement(feed, f"{{{_ATOM}}}link", rel="self", href=f"{address}/feed.xml" if address else "feed.xml")
    for standing, entry in entries[:_MOST]:
        if entry is None:
            continue
        page = f"entries/{standing.name}.html"
        item = ElementTree.SubElement(feed, f"{{{_ATOM}}}entry")
        _add(item, "id", f"{root}/{page}" if address else f"{root}:{standing.name}")
        _add(item, "title", _title(standing.name, entry))
        _add(item, "updated", f"{entry.date}T00:00:00Z")
        ElementTree.SubElement(item, f"{{{_ATOM}}}link", href=f"{address}/{page}" if address else page)
        for author in entry.authors:
            _add(ElementTree.SubElement(item, f"{{{_ATOM}}}author"), "name", author)
        _add(item, "summary", entry.reason or f"{entry.agent} {entry.version}")
    text: bytes = ElementTree.tostring(feed, encoding="utf-8", xml_declaration=True)
    return text


def _title(name: str, entry: Entry) -> str:
    if entry.kind == "retraction":
        return f"{entry.retracts} was retracted"
    title = f"{entry.agent} {entry.version}".strip()
    return f"{title}, which corrects {entry.corrects}" if entry.corrects else f"{title} ({name})"


def _add(parent: ElementTree.Element, name: str, text: str) -> None:
    ElementTree.SubElement(parent, f"{{{_ATOM}}}{name}").text = text
