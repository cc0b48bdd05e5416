"""Synthetic tables by a schema: ``make_raw`` in a few lines. The same arguments give the same bytes.

::

    SCHEMA = [
        ColumnSchema("visit", "id"),
        ColumnSchema("patient", "id", prefix="P", low=1, rows_each=4),  # a group: about four rows have each value
        ColumnSchema("date", "date", low="2023-01-01", high="2024-12-31", ascending=True),
        ColumnSchema("ward", "category", values=("A", "B", "C"), shares=(6, 3, 1)),
        ColumnSchema("pulse", "integer", quantiles=(40, 62, 71, 84, 160), missing=0.05),
        ColumnSchema("note", "text", low=3, high=30),  # words
        ColumnSchema("ill", "category", values=(0, 1), shares=(0.8, 0.2), target=True),
    ]
    write_csv(synthetic_table(SCHEMA, max(60, round(1000 * size)), seed), raw / "visits.csv")

A schema is plain values, so a file can hold it: ``[ColumnSchema(**column) for column in toml["columns"]]``.

How it works: each target follows a hidden normal variable, which rows of one group share in part. Every other column is
ranked by a mixture of that variable with noise, and the ranks are turned into values by the column's distribution. So
each column has the values and shares of its schema whatever it depends on, and a model can learn the target.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, get_args

from attrs import field, frozen

from mlecore.errors import PluginError
from mlecore_toolkit.prepare.synthetic import hex_ids

if TYPE_CHECKING:
    import numpy as np
    from numpy.random import RandomState
    from numpy.typing import NDArray
    from pandas import DataFrame

    Floats = NDArray[np.float64]

Kind = Literal["number", "integer", "category", "boolean", "text", "date", "id", "file"]

_GROUP_SHARE = 0.7  # how far rows of one group are alike: the correlation of a row's hidden variable with its group's
_WORDS = (  # from those of a low target to those of a high one
    "cold slow late grey weak lost poor dull broken empty narrow heavy old dark quiet far under behind without never"
    " the a of and to in is it for on with as at this that from by or was are"
    " ever within before over near loud bright new light wide full whole sharp rich found strong clear early quick warm"
).split()


def _tuple(values: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(values)  # a file has lists


@frozen
class ColumnSchema:
    """One column of a synthetic table.

    - number: from ``low`` to ``high``, rounded to ``decimals``; ``quantiles``: its values at equal steps of
      probability, from the least to the greatest, such as (least, quartile, median, quartile, greatest)
    - integer: likewise, whole numbers
    - category: one of ``values``, with ``shares`` in proportion (default: equal)
    - boolean: True or False, with ``shares`` of False and True
    - text: ``low`` to ``high`` common words; some words go with a high target, others with a low one
    - date: from ``low`` to ``high`` (as "2024-12-31" or "2024-12-31 23:59:00"), written by ``form``, as in ``strftime``
    - id: distinct ids; numbers from ``low`` if it is given, else 8 hexadecimal digits in no order, between ``prefix``
      and ``suffix``. With ``rows_each`` above 1 it names groups, each of about so many rows in any order
    - file: distinct file names, as ids; ``suffix`` ".png", perhaps with a folder as ``prefix``

    Raises PluginError for a schema that cannot be.
    """

    name: str
    kind: Kind
    low: float | str | None = field(default=None, kw_only=True)
    high: float | str | None = field(default=None, kw_only=True)
    quantiles: tuple[float, ...] = field(default=(), converter=_tuple, kw_only=True)
    decimals: int = field(default=3, kw_only=True)
    values: tuple[Any, ...] = field(default=(), converter=_tuple, kw_only=True)
    shares: tuple[float, ...] = field(default=(), converter=_tuple, kw_only=True)
    form: str = field(default="%Y-%m-%d", kw_only=True)
    prefix: str = field(default="", kw_only=True)
    suffix: str = field(default="", kw_only=True)
    rows_each: float = field(default=1, kw_only=True)
    missing: float = field(default=0.0, kw_only=True)  # share of empty cells
    ascending: bool = field(default=False, kw_only=True)  # sorted in the order of rows, such as times
    target: bool = field(default=False, kw_only=True)  # to be predicted; several are independent of each other
    signal: float | None = field(default=None, kw_only=True)
    """Correlation with the target's hidden variable, from -1 to 1. Default: 0.5, but 0 for ids, files and dates."""

    def __attrs_post_init__(self) -> None:
        def need(holds: bool, what: str) -> None:
            if not holds:
                raise PluginError(f"column {self.name!r} of the schema: {what}")

        need(self.kind in get_args(Kind), f"kind {self.kind!r} is none of {', '.join(get_args(Kind))}")
        need(0 <= self.missing < 1, f"missing = {self.missing} is no share from 0 to below 1")
        need(self.signal is None or abs(self.signal) <= 1, f"signal = {self.signal} is not from -1 to 1")
        need(self.rows_each >= 1, f"rows_each = {self.rows_each} is below 1")
        if self.kind in ("number", "integer"):
            steps = self._steps()
            need(len(steps) > 1, "a number needs low and high, or quantiles")
            need(all(a <= b for a, b in pairwise(steps)), f"{steps} do not ascend")
        if self.kind in ("text", "date"):
            need(self.low is not None and self.high is not None, f"a {self.kind} needs low and high")
        need(self.kind != "category" or bool(self.values), "a category needs values")
        if self.shares:
            need(len(self.shares) == len(self._choices()), f"{len(self.shares)} shares are not one for each value")
            need(min(self.shares) >= 0 and sum(self.shares) > 0, "shares must be 0 or above, and not all 0")

    def _steps(self) -> tuple[float, ...]:
        return self.quantiles or tuple(float(end) for end in (self.low, self.high) if end is not None)

    def _choices(self) -> tuple[Any, ...]:
        return (False, True) if self.kind == "boolean" else self.values


def synthetic_table(schema: Sequence[ColumnSchema], rows: int, seed: int) -> DataFrame:
    """A table of ``rows`` rows by a schema; a cell without a value is missing.

    A column's values depend on its own schema, the targets and the groups alone, so that a column can be added without
    changing the others. Raises PluginError if two columns have one name, or there are two groups.
    """
    import numpy as np
    import pandas as pd

    names = [column.name for column in schema]
    if len(set(names)) < len(names):
        raise PluginError(f"a schema names {next(n for n in names if names.count(n) > 1)!r} twice")
    groups = [column for column in schema if column.rows_each > 1]
    if len(groups) > 1:
        raise PluginError(f"a schema has one column of groups, not {len(groups)}: {groups[0].name}, {groups[1].name}")
    group = _group(groups[0], rows, seed) if groups else np.arange(rows)
    targets = [_hidden(column, group, seed) for column in schema if column.target] or [np.zeros(rows)]
    table, features, labels = {}, 0, 0
    for column in schema:
        rng = _numbers(column, seed)
        if column.target:
            hidden, signal = targets[labels], 1.0
            labels += 1
        else:
            measured = column.kind not in ("id", "file", "date")
            signal = (0.5 if measured else 0.0) if column.signal is None else column.signal
            hidden = targets[features % len(targets)]
            features += measured
        values = pd.Series(_values(column, rng, hidden, signal, group, seed))
        if column.ascending:
            values = values.sort_values(ignore_index=True)
        if column.missing:
            whole = {"i": "Int64", "b": "boolean"}.get(values.dtype.kind)  # else a gap would make 3 into 3.0
            values = values.astype(whole) if whole else values
            values = values.mask(_ranks(rng.random_sample(rows)) < round(column.missing * rows))
        if column.kind == "date":
            values = values.dt.strftime(column.form)
        table[column.name] = values
    return pd.DataFrame(table)


def _numbers(column: ColumnSchema, seed: int, use: str = "") -> RandomState:
    """Random numbers of this column alone."""
    from numpy.random import RandomState

    return RandomState(list(hashlib.sha256(f"{seed} {column.name} {use}".encode("utf-8", "replace")).digest()))


def _group(column: ColumnSchema, rows: int, seed: int) -> NDArray[np.intp]:
    """The number of each row's group; every group has a row."""
    import numpy as np

    rng = _numbers(column, seed, "groups")
    count = min(rows, max(2, round(rows / column.rows_each)))
    return rng.permutation(np.concatenate([np.arange(count), rng.randint(0, count, rows - count)]))


def _hidden(column: ColumnSchema, group: NDArray[np.intp], seed: int) -> Floats:
    """The normal variable that a target follows."""
    rng = _numbers(column, seed, "hidden")
    own, shared = rng.normal(size=(2, len(group)))
    mixed: Floats = _GROUP_SHARE * shared[group] + (1 - _GROUP_SHARE**2) ** 0.5 * own
    return mixed


def _ranks(values: Floats) -> NDArray[np.intp]:
    import numpy as np

    ranks = np.empty(len(values), dtype=np.intp)
    ranks[np.argsort(values, kind="stable")] = np.arange(len(values))
    return ranks


def _values(
    column: ColumnSchema, rng: RandomState, hidden: Floats, signal: float, group: NDArray[np.intp], seed: int
) -> Any:
    """The column's cells, none missing."""
    import numpy as np
    import pandas as pd

    rows = len(hidden)
    if column.kind in ("id", "file"):
        numbers = group if column.rows_each > 1 else np.arange(rows)
        if column.low is None:
            ids = hex_ids(int(numbers.max(initial=-1)) + 1, 8, seed=int(rng.randint(2**31)))
            return [f"{column.prefix}{ids[number]}{column.suffix}" for number in numbers]
        numbers = numbers + int(column.low)
        return [f"{column.prefix}{n}{column.suffix}" for n in numbers] if column.prefix + column.suffix else numbers

    def mixed(hidden: Floats) -> Floats:
        mixture: Floats = signal * hidden + (1 - signal**2) ** 0.5 * rng.normal(size=len(hidden))
        return mixture

    place = (_ranks(mixed(hidden)) + rng.random_sample(rows)) / max(1, rows)  # of each row, from 0 to 1
    if column.kind in ("category", "boolean"):
        choices = column._choices()
        edges = np.cumsum(column.shares or (1,) * len(choices))
        chosen = np.searchsorted(edges[:-1] / edges[-1], place, side="right")
        return pd.Series(choices).take(chosen).reset_index(drop=True)
    if column.kind == "date":
        low, high = (pd.Timestamp(end).timestamp() for end in (column.low, column.high))
        return pd.to_datetime((low + place * (high - low)).round().astype(np.int64), unit="s")
    if column.kind == "text":
        low, high = int(column.low or 0), int(column.high or 0)
        counts = rng.randint(low, high + 1, rows)
        ranks = _ranks(mixed(np.repeat(mixed(hidden), counts)))  # many words of a row say no more than one number
        words = np.array(_WORDS, dtype=object)[ranks * len(_WORDS) // max(1, len(ranks))]
        return [" ".join(part) for part in np.split(words, np.cumsum(counts)[:-1])]
    steps = column._steps()
    spread = np.interp(place, np.linspace(0, 1, len(steps)), steps)
    return np.rint(spread).astype(np.int64) if column.kind == "integer" else spread.round(column.decimals)
