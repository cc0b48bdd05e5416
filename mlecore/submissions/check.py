"""The generic check of a submission: the ``[submission]`` table and the sample, answers unseen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mlecore.errors import DataError, InvalidSubmission, PluginError
from mlecore.submissions.format import Column, Format

if TYPE_CHECKING:
    from pandas import DataFrame

    from mlecore.submissions.table import Table


def generic_check(format: Format, submission: Table, sample: Table) -> list[str]:
    """Checks a submission against the sample submission, answers unseen. Returns warnings; raises InvalidSubmission.

    The rules are applied by the functions that ``grade`` uses, with the sample in the place of the answers.
    """
    from mlecore.submissions.values import rows_sum_to_one

    try:
        expected = sample.frame()
    except InvalidSubmission as error:
        raise DataError(f"the sample submission is damaged: {error}", fix="Prepare the competition again.") from None
    if format.id is not None and format.id not in expected.columns:
        raise PluginError(f"[submission] id = {format.id!r}, but the sample has only {', '.join(expected.columns)}")
    rules = format.expand(list(expected.columns))
    guess = _rows(format, submission, expected, list(rules))
    numeric = []
    for name, rule in rules.items():
        values = _values(guess, name, rule)
        if rule.type == "number":
            numeric.append(values)
    if format.sum_to_one is not None:
        import numpy as np

        rows_sum_to_one(guess, np.column_stack(numeric), format.sum_to_one)
    return _warnings(format, rules, submission, sample)


def _rows(format: Format, submission: Table, expected: DataFrame, columns: list[str]) -> DataFrame:
    """The submission's table once its columns and ids are right; rows named by id where they are compared."""
    from mlecore.submissions.alignment import aligned, columns_of, known_ids, same_count, same_ids
    from mlecore.submissions.messages import ID

    only = format.extra == "refused"
    required = list(dict.fromkeys([format.id, *columns] if format.id and format.id_required else columns))
    may = [format.id] if only and format.id and format.id not in required else []
    frame = columns_of(submission, [*required, *[name for name in may if name in submission.frame()]], only=only)
    if format.rows == "count":
        same_count(frame, expected)
    elif format.rows == "sample" and format.ids == "list":
        return aligned(submission, expected, on=str(format.id), columns=columns)[1]
    elif format.rows in ("sample", "subset"):
        (same_ids if format.rows == "sample" else known_ids)(frame, expected, str(format.id))
    guess = frame.copy(deep=False)
    if format.id_required and format.rows != "any":
        guess.attrs[ID] = format.id
    return guess


def _values(guess: DataFrame, name: str, rule: Column) -> Any:
    """The column through the validator that its type names."""
    from mlecore.submissions import values

    if rule.type == "number":
        options = {"missing": rule.missing, "infinite": rule.infinite, "from_text": rule.from_text}
        return values.numbers(guess, name, low=rule.low, high=rule.high, **options)
    if rule.type == "label":
        return values.labels(guess, name)
    if rule.type == "integer":
        return values.integers(guess, name)
    if rule.type == "text":
        return values.texts(guess, name, missing="" if rule.missing else None)
    return None


def _warnings(format: Format, rules: Mapping[str, Column], submission: Table, sample: Table) -> list[str]:
    """What is valid and surely not meant."""
    import pandas as pd

    from mlecore.submissions.messages import counted

    frame, expected = submission.frame(), sample.frame()
    said = []
    if not isinstance(frame.index, pd.RangeIndex):
        said.append(
            "the rows have more cells than the header (a comma at the end?): the first cells are taken as names of the "
            "rows, and all columns move to the left"
        )
    if format.id is not None and format.id in frame.columns:
        said += _id_warnings(format, frame[format.id], expected[format.id], submission, sample)
    for name, rule in rules.items():
        gaps = int(frame[name].isna().sum()) if rule.type == "number" and rule.missing else 0
        if gaps:
            said.append(f"column {name!r} has {counted(gaps, 'missing value')}: allowed, but they cannot score well")
    return said


def _id_warnings(format: Format, ids: Any, asked: Any, submission: Table, sample: Table) -> list[str]:
    from mlecore.submissions.messages import counted, shown

    said = []
    known = set(asked.drop_duplicates().tolist())
    if unknown := [value for value in ids.drop_duplicates().tolist() if value not in known]:
        said.append(
            f"{counted(len(unknown), format.id or 'id')} the sample lacks, such as {shown(unknown[0])}: ids are not "
            "compared, so those rows meet whatever stands in their place"
        )
    elif format.order == "sample":
        pairs = zip(ids.tolist(), asked.tolist(), strict=False)
        first = next((place for place, (have, want) in enumerate(pairs) if have != want), None)
        if first is not None:
            said.append(
                f"rows are paired by their place in the file, and the order is not the sample's: row {first + 1:,} is "
                f"{shown(ids.iloc[first])}, expected {shown(asked.iloc[first])}"
            )
    if ids.dtype.kind in "iuf" and _leading_zeros(submission, format.id) and not _leading_zeros(sample, format.id):
        said.append(f"{format.id} is written with leading zeros and read as a number, so the zeros do not count")
    return said


def _leading_zeros(table: Table, column: str | None) -> bool:
    return bool(table.text()[column].str.match(r"\s*0\d").any())
