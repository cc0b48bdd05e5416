"""A table as text to paste into a paper."""

from __future__ import annotations

from collections.abc import Sequence

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


def _latex(text: str) -> str:
    return "".join(_LATEX.get(mark, mark) for mark in text)
