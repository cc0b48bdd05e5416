"""Reads the sample for the check of a submission, and warns about what is valid but surely not intended."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mlecore.errors import DataError, InvalidSubmission, PluginError
from mlecore_toolkit.submissions.format import Format
from mlecore_toolkit.submissions.messages import counted, listed, shown

if TYPE_CHECKING:
    from pandas import DataFrame, Series

    from mlecore_toolkit.submissions.table import Table


_LARGEST = 64 << 20  # bytes; larger training tables are not read
_REPEATED = 4  # average number of times that a label occurs; rarer values are no classes


def read_sample(format: Format, sample: Table) -> DataFrame:
    """The sample submission, which takes the answers' place. Raises DataError or PluginError if it does not fit."""
    try:
        frame = sample.frame()
    except InvalidSubmission as error:
        raise DataError(f"the sample submission is damaged: {error}", fix="Prepare the competition again.") from None
    if format.id is not None and format.id not in frame.columns:
        raise PluginError(f"[submission] id = {format.id!r}, but the sample has only {', '.join(frame.columns)}")
    return frame


def warnings(format: Format, submission: Table, sample: Table) -> list[str]:
    """Warnings about ids, missing numbers and cells beyond the header of an accepted submission."""
    import pandas as pd

    frame, expected = submission.frame(), sample.frame()
    said = []
    if not isinstance(frame.index, pd.RangeIndex):
        said.append(
            "the rows have more cells than the header (a comma at the end?): the first cells are taken as names of the "
            "rows, and all columns move to the left"
        )
    if format.id is not None and format.id in frame.columns:
        said += _id_warnings(format, frame[format.id], expected[format.id], submission, sample)
    for name, rule in format.expand(list(expected.columns)).items():
        gaps = int(frame[name].isna().sum()) if rule.type == "number" and rule.missing else 0
        if gaps:
            said.append(f"column {name!r} has {counted(gaps, 'missing value')}: allowed, but they cannot score well")
    return said


def _id_warnings(format: Format, ids: Series, asked: Series, submission: Table, sample: Table) -> list[str]:
    said = []
    known = set(asked.drop_duplicates().tolist())
    if unknown := [value for value in ids.drop_duplicates().tolist() if value not in known]:
        said.append(
            f"{counted(len(unknown), format.id or 'id')} missing from the sample, such as {shown(unknown[0])}: ids are "
            "not compared, so these rows may be matched by position"
        )
    elif format.order == "sample":
        pairs = zip(ids.tolist(), asked.tolist(), strict=False)
        first = next((place for place, (have, want) in enumerate(pairs) if have != want), None)
        if first is not None:
            said.append(
                f"rows may be paired by their place in the file, and the order is not the sample's: row {first + 1:,} "
                f"is {shown(ids.iloc[first])}, expected {shown(asked.iloc[first])}"
            )
    if (
        ids.dtype.kind in "iuf"
        and _leading_zeros(submission, str(format.id))
        and not _leading_zeros(sample, str(format.id))
    ):
        said.append(f"{format.id} is written with leading zeros and read as a number, so the zeros do not count")
    return said


def _leading_zeros(table: Table, column: str) -> bool:
    return bool(table.column_text(column).str.match(r"\s*0\d").any())


def unknown_labels(format: Format, submission: Table, sample: Table, tables: Sequence[Path]) -> list[str]:
    """A warning for each column of classes with labels that neither the training data nor the sample have.

    A column has classes if its type is label or text and its values repeat in a training table, one of ``tables``. A
    cell may have several labels, separated by blanks.
    """
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
    """The labels of a column in the training tables; None if they are no classes."""
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
    """The distinct labels; 1, 1.0 and True are equal."""
    if column.dtype.kind in "biuf":
        return {f"{value:g}" for value in column.dropna().astype(float).unique()}
    return {word for cell in column.dropna().unique() for word in str(cell).split()}
