"""One table of a report."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from attrs import frozen

from mlecore.reports.cells import NONE, one_line

FLAGGED = "flagged as failures"


@frozen(kw_only=True)
class Section:
    """A table with its title, and sentences below it."""

    id: str
    title: str
    header: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    notes: tuple[str, ...] = ()


def section(
    id: str, title: str, header: Sequence[str], rows: Iterable[Sequence[str]], notes: Iterable[str] = ()
) -> Section:
    """Its cells and notes each on one line, without the columns that are empty in every row."""
    cleaned = [tuple(map(one_line, row)) for row in rows]
    kept = [number for number in range(len(header)) if any(row[number] != NONE for row in cleaned)]
    return Section(
        id=id,
        title=title,
        header=tuple(header[number] for number in kept),
        rows=tuple(tuple(row[number] for number in kept) for row in cleaned),
        notes=tuple(map(one_line, notes)),
    )


def said_once(notes: Iterable[tuple[str, str]], keys: int) -> list[str]:
    """Sentences, each after the keys of the setups that it is true of, unless those are all of ``keys`` setups."""
    found: dict[str, list[str]] = {}
    for key, note in notes:
        found.setdefault(note, []).append(key)
    return [note if len(of) == keys else f"{', '.join(of)}: {note}" for note, of in found.items()]
