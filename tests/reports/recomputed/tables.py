"""The tables of an HTML page as text."""

from __future__ import annotations

from html.parser import HTMLParser

from attrs import define, field


@define
class Table:
    """``title``: the name of its region. Rows of a single heading over a group are left out."""

    title: str
    header: list[str] = field(factory=list)
    rows: list[list[str]] = field(factory=list)


def tables(html: str) -> list[Table]:
    reader = _Reader()
    reader.feed(html)
    return reader.tables


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tables: list[Table] = []
        self._region = ""
        self._text: list[str] | None = None  # of the open cell

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = dict(attributes)
        if tag == "div" and given.get("role") == "region":
            self._region = given["aria-label"] or ""
        elif tag == "table":
            self.tables.append(Table(self._region))
        elif tag == "tr":
            self.tables[-1].rows.append([])
        elif tag in ("td", "th"):
            self._text = []
        elif self._text is not None:
            self._text.append(" ")

    def handle_data(self, data: str) -> None:
        if self._text is not None:
            self._text.append(data)

    def handle_endtag(self, tag: str) -> None:
        if tag == "thead":
            last = self.tables[-1]
            last.header, last.rows = last.rows[0], []
        elif tag == "tr" and len(self.tables[-1].rows[-1]) == 1:
            self.tables[-1].rows.pop()
        elif self._text is not None and tag in ("td", "th"):
            self.tables[-1].rows[-1].append(" ".join("".join(self._text).split()))
            self._text = None
