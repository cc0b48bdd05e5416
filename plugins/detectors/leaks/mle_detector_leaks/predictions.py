"""Submissions as predictions that can be compared: sorted by id, numbers as numbers."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import frozen

from mlecore_toolkit.submissions.format import Format

if TYPE_CHECKING:
    from polars import DataFrame, Series

_DISTINCT = 20  # values from which on a column of fractions is no coincidence
_ALWAYS_SAME = 2  # distinct values, from which on a column says something


@frozen(kw_only=True)
class Predictions:
    """What a file predicts."""

    digest: str  # the same for the same predictions, however the file is written
    varied: bool  # they are not the same for every row
    fractional: bool  # with many different fractions, which two models do not share by chance


def read_text(path: Path, columns: Sequence[str] | None = None) -> DataFrame:
    """A CSV file with every cell as text."""
    import polars as pl

    return pl.read_csv(path, infer_schema=False, columns=columns).fill_null("")


def as_numbers(column: Series) -> Series | None:
    """A column of text as numbers of ten significant digits; None where it holds anything else."""
    import polars as pl

    numbers = column.str.strip_chars().cast(pl.Float64, strict=False)
    return None if numbers.null_count() else numbers.round_sig_figs(10)


def plain(frame: DataFrame) -> DataFrame:
    """Each column as numbers where it is that, else as text."""
    columns = [numbers if (numbers := as_numbers(column)) is not None else column for column in frame]
    return frame.with_columns(columns)


def read_predictions(path: Path, format: Format) -> Predictions:
    """Predictions of a graded or a sample submission. Raises polars' errors for a file that is no table."""
    status = path.stat()
    return _read(path, status.st_mtime_ns, status.st_size, format.id)


@lru_cache(maxsize=4096)
def _read(path: Path, modified: int, size: int, id: str) -> Predictions:
    frame = plain(read_text(path))
    ids = [id] if id in frame.columns else []
    rest = frame.drop(ids)
    ordered = frame.select(*ids, *sorted(rest.columns)).sort(ids or sorted(rest.columns))
    digest = hashlib.sha256(ordered.write_csv(float_precision=10, float_scientific=True).encode()).hexdigest()
    return Predictions(
        digest=digest,
        varied=any(column.n_unique() >= _ALWAYS_SAME for column in rest),
        fractional=any(_fractional(column) for column in rest),
    )


def _fractional(column: Series) -> bool:
    if not column.dtype.is_float():
        return False
    fractions = column.filter(column != column.round(0))
    return fractions.n_unique() >= _DISTINCT
