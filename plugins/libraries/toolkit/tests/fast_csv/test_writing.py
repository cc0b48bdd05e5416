"""Lines by polars have the bytes of pandas, also where single cells are written in another way."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from mlecore_toolkit.fast_csv import frames, writing

ODD = [1e-5, -1e-300, 1e15, 1e16, -np.inf, 0.0, -0.0, 7.0, 123456789.5, np.nan]


def fast(table: pd.DataFrame, float_format: str | None = None) -> bytes | None:
    columns = frames.to_polars(table)
    assert columns is not None
    return writing.lines(columns, float_format=float_format)


def slow(table: pd.DataFrame, float_format: str | None = None) -> bytes:
    text: str = table.to_csv(index=False, header=False, float_format=float_format)
    return text.encode()


@pytest.mark.parametrize("float_format", [None, "%.10g", "%.3f"])
@pytest.mark.parametrize("every", [1, 2, 50])
def test_few_and_many_odd_decimals(every: int, float_format: str | None) -> None:
    """In several columns of a row, at its beginning and end, and beside text."""
    values = np.random.RandomState(0).standard_normal((500, 3))
    for column in range(3):
        odd = values[column::every, column]
        odd[:] = np.resize(ODD, len(odd))
    table = pd.DataFrame(values, columns=[*"abc"])
    table.insert(1, "text", [f'"{row}"\r\n, {row}' for row in range(500)])
    assert fast(table, float_format) == slow(table, float_format)


def test_the_table_that_is_written_stays_as_it_was() -> None:
    columns = frames.to_polars(pd.DataFrame({"a": [0.5] * 99 + [1e-7], "b": range(100)}))
    assert columns is not None
    before = columns.clone()
    assert writing.lines(columns) is not None
    assert columns.equals(before)
    assert columns["a"][-1] == 1e-7


@pytest.mark.parametrize(("cell", "known"), [("a\r\nb", True), ("a\rb", False), ("a\r", False), ('a\rb"', True)])
def test_lone_carriage_returns_are_left_to_pandas(cell: str, known: bool) -> None:
    table = pd.DataFrame({"a": ["x\r\ny", cell], "b": [1, 2]})
    assert (fast(table) is not None) == known
    assert not known or fast(table) == slow(table)
