"""A table as text to paste into a paper, a README or a spreadsheet."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from mlecore.reports.text import markdown_table

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
_FORMULA = ("=", "@", "\t", "\r")


def as_latex(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A tabular with the rules of booktabs."""
    lines = [" & ".join(map(_latex, row)) + r" \\" for row in (header, *rows)]
    columns = "l" + "r" * (len(header) - 1)
    return "\n".join(
        [
            f"\\begin{{tabular}}{{{columns}}}",
            r"\toprule",
            lines[0],
            r"\midrule",
            *lines[1:],
            r"\bottomrule",
            r"\end{tabular}",
        ]
    )


def as_markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return markdown_table(header, rows)


def as_csv(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """For spreadsheets: text that one would take for a formula begins with an apostrophe."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    for row in (header, *rows):
        writer.writerow(f"'{cell}" if cell.startswith(_FORMULA) else cell for cell in row)
    return out.getvalue()


def _latex(text: str) -> str:
    return "".join(_LATEX.get(mark, mark) for mark in text)
