"""Warnings of labels that are not in the training data: valid, and surely not intended."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mlecore_toolkit.submissions.format import Format

if TYPE_CHECKING:
    from pandas import Series

    from mlecore_toolkit.submissions.table import Table

_LARGEST = 64 << 20  # bytes of a training table that is read
_REPEATED = 4  # times that labels occur on average; other texts and whole numbers are no classes


def unknown_labels(format: Format, submission: Table, sample: Table, tables: Sequence[Path]) -> list[str]:
    """A warning for each column of classes with labels that neither the training data nor the sample have.

    Classes are the labels and texts of a column that a training table, one of ``tables``, has, too, and that repeat
    there. A list of labels in one cell, separated by blanks, is taken label by label.
    """
    from mlecore_toolkit.submissions.messages import counted, listed

    frame = submission.frame()
    columns = format.expand(list(sample.frame().columns))
    classes = [name for name, rule in columns.items() if rule.type in ("label", "text") and name in frame.columns]
    said = []
    for name in classes:
        known = _known(tables, name)
        if known is None:
            continue
        unknown = sorted(_labels(frame[name]) - known - _labels(sample.frame()[name]))
        if unknown:
            said.append(
                f"column {name!r} has {counted(len(unknown), 'label')} not in the training data: {listed(unknown)}"
            )
    return said


def _known(tables: Sequence[Path], name: str) -> set[str] | None:
    """The labels of a column in the training tables; None where they are no classes."""
    cells = [column for path in tables for column in _column(path, name)]
    labels = [label for column in cells for label in column.dropna()]
    known = {label for column in cells for label in _labels(column)}
    return known if known and len(labels) >= _REPEATED * len(known) else None


def _column(path: Path, name: str) -> Iterator[Series]:
    import pandas as pd

    if path.is_file() and path.stat().st_size <= _LARGEST:
        try:
            yield pd.read_csv(path, usecols=[name])[name]
        except (ValueError, OSError):  # no such column, or no table
            return


def _labels(column: Series) -> set[str]:
    """Each label once; 1, 1.0 and True are the same."""
    if column.dtype.kind in "biuf":
        return {f"{value:g}" for value in column.dropna().astype(float).unique()}
    return {word for cell in column.dropna().unique() for word in str(cell).split()}
