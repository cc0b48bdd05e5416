"""The tables of an HTML page as text."""

from __future__ import annotations

from html.parser import HTMLParser

from attrs import define, field


@define
class Table:
    """``title``: the key of the setup that it is about, and the name of its region."""

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
        self._key: list[str] = []  # of the last heading
        self._region = ""
        self._text: list[str] | None = None  # of the open cell or key

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = dict(attributes)
        if tag == "h3":
            self._key = []
        elif tag == "div" and given.get("role") == "region":
            self._region = given["aria-label"] or ""
        elif tag == "table":
            self.tables.append(Table(" ".join([*self._key, self._region])))
        elif tag == "tbody":
            last = self.tables[-1]
            last.header, last.rows = last.rows[0], []
        elif tag == "tr":
            self.tables[-1].rows.append([])
        elif tag in ("td", "th") or given.get("class") == "key":
            self._text = []

    def handle_data(self, data: str) -> None:
        if self._text is not None:
            self._text.append(data)

    def handle_endtag(self, tag: str) -> None:
        if self._text is None or tag not in ("td", "th", "span"):
            return
        text, self._text = "".join(self._text).strip(), None
        if tag == "span":
            self._key = [text]
        else:
            self.tables[-1].rows[-1].append(text)
