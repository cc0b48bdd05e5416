"""One table of a report."""

from __future__ import annotations

from attrs import frozen

FLAGGED = "flagged as failures"


@frozen(kw_only=True)
class Section:
    """A table with its title, and sentences below it. ``setup``: the key of the setup that it is about."""

    id: str  # of the kind of section: "rates", "runs" ...
    title: str
    header: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    notes: tuple[str, ...] = ()
    setup: str | None = None
