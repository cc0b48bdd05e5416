"""A table as text for other programs: Markdown, CSV for spreadsheets, LaTeX."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence

from mlecore.util.printable import printable

_FORMULA = tuple(
    "=+-@\t\n\N{FULLWIDTH EQUALS SIGN}\N{FULLWIDTH PLUS SIGN}\N{FULLWIDTH HYPHEN-MINUS}\N{FULLWIDTH COMMERCIAL AT}"
)
_NUMBER = r"[-+]?(?:\d[\d.,]*(?:e[-+]?\d+)?|inf|nan)"
_NUMBERS = re.compile(rf"-|{_NUMBER}(?: (?:to|±) {_NUMBER})?", re.IGNORECASE | re.ASCII)
_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
    "→": r"$\to$",
    "↑": r"$\uparrow$",
    "↓": r"$\downarrow$",
    **{mark: f"\\{mark}" for mark in "&%$#_{}"},
}


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A pipe table; what Markdown or HTML would interpret is escaped."""
    return "\n".join([_row(header), "|" + "---|" * len(header), *map(_row, rows)])


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(map(escaped, cells)) + " |"


def escaped(text: str) -> str:
    """Escapes what Markdown, or the HTML in it, would interpret."""
    return re.sub(r"[\\|<>\[\]*`_]", r"\\\g<0>", text)


def as_csv(header: Sequence[str], rows: Iterable[Iterable[object]]) -> str:
    """Text that a spreadsheet would take for a formula begins with an apostrophe; numbers stay. None is empty."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    for row in (header, *rows):
        writer.writerow(map(_csv_cell, row))
    return out.getvalue()


def _csv_cell(value: object) -> object:
    if not isinstance(value, str):
        return value
    text = printable(value, lines=True)  # a carriage return would begin a row
    return f"'{text}" if text.startswith(_FORMULA) and not _NUMBERS.fullmatch(text) else text


def as_latex(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A tabular with the rules of booktabs."""
    head, *body = (" & ".join(map(_latex, row)) + r" \\" for row in (header, *rows))
    begin = f"\\begin{{tabular}}{{l{'r' * (len(header) - 1)}}}"
    return "\n".join([begin, r"\toprule", head, r"\midrule", *body, r"\bottomrule", r"\end{tabular}"])


def _latex(text: str) -> str:
    return "".join(_LATEX.get(mark, mark) for mark in text)
