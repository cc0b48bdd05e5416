"""What the check of a submission needs of the sample, and warnings about what is valid and surely not intended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlecore.errors import DataError, InvalidSubmission, PluginError
from mlecore_toolkit.submissions.format import Format

if TYPE_CHECKING:
    from pandas import DataFrame, Series

    from mlecore_toolkit.submissions.table import Table


def read_sample(format: Format, sample: Table) -> DataFrame:
    """The sample submission, which stands for the answers. Raises DataError, PluginError for one that does not fit."""
    try:
        frame = sample.frame()
    except InvalidSubmission as error:
        raise DataError(f"the sample submission is damaged: {error}", fix="Prepare the competition again.") from None
    if format.id is not None and format.id not in frame.columns:
        raise PluginError(f"[submission] id = {format.id!r}, but the sample has only {', '.join(frame.columns)}")
    return frame


def warnings(format: Format, submission: Table, sample: Table) -> list[str]:
    """About ids, missing numbers and cells beyond the header of a submission that ``format.read`` has accepted."""
    import pandas as pd

    from mlecore_toolkit.submissions.messages import counted

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
    from mlecore_toolkit.submissions.messages import counted, shown

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
