"""New names for columns, categories and ids, in an order that follows from a secret seed alone."""

from __future__ import annotations

import hmac
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl
    from numpy.random import Generator

_MOST = 1000  # categories that a column may have
_REPEATED = 10  # times that a category occurs on average
_LONGEST_ID = 64  # characters; longer ones, or words with blanks, are texts
_TRUTH = ("true", "false", "True", "False", "TRUE", "FALSE")
_JOINT = "_"  # in ids composed of another table's id and something else, such as a position


class Table(Protocol):
    """A ``Delimited`` or a ``JsonTable``."""

    @property
    def names(self) -> list[str]: ...
    @property
    def height(self) -> int: ...
    def cells(self, name: str) -> pl.Series | None: ...
    def is_text(self, name: str) -> bool: ...
    def write(
        self, path: Path, columns: Mapping[str, str], values: Mapping[str, Mapping[str, str]], order: Any
    ) -> None: ...


def random_for(seed: bytes, *what: str) -> Generator:
    """Random numbers for one purpose. They reveal neither the seed nor the numbers for another purpose."""
    import numpy as np

    purpose = "\0".join(what).encode(errors="backslashreplace")
    return np.random.default_rng(int.from_bytes(hmac.digest(seed, purpose, "sha256")))


def new_columns(old: Collection[str], seed: bytes) -> dict[str, str]:
    """Old -> new."""
    kept = list(dict.fromkeys(old))
    return dict(zip(kept, fresh("c", len(kept), kept, random_for(seed, "columns")), strict=True))


def new_labels(
    tables: Sequence[Table], keys: Collection[str], columns: Mapping[str, str], seed: bytes
) -> dict[str, dict[str, str]]:
    """Column -> category -> new name; ``keys``: columns that hold ids."""
    found = {name: values for name in columns if name not in keys and (values := _categories(tables, name))}
    old = sorted({value for values in found.values() for value in values} - columns.keys())
    named = fresh("v", len(old), [*old, *columns], random_for(seed, "categories"))
    new = {**columns, **dict(zip(old, named, strict=True))}
    return {name: {value: new[value] for value in values} for name, values in found.items()}


def new_ids(
    tables: Sequence[Table], sample: Table, id: str, stems: Collection[str], seed: bytes
) -> dict[str, dict[str, str]]:
    """Column -> id -> new one: of the submission's ids, of what these are composed of, and of what names files.

    Empty for a column whose ids are texts.
    """
    others = [table for table in tables if table is not sample]
    ids = _unique([sample], id).to_list()
    known = set(_unique(others, id).to_list())
    base = None if known.issuperset(ids) or known & set(ids) else _base(others, ids)
    wanted = dict.fromkeys([base or id, *filter(None, [_named_by(tables, stems, id)])])
    found = {name: _renamed_ids(_unique(tables, name).to_list(), random_for(seed, "ids", name)) for name in wanted}
    if base is not None:
        parts = {old: old.rpartition(_JOINT) for old in ids}
        composed = {old: f"{found[base][first]}{_JOINT}{rest}" for old, (first, _, rest) in parts.items()}
        found[id] = {**found.get(id, {}), **composed}
    return found


def fresh(letter: str, count: int, taken: Collection[str], random: Generator) -> Iterator[str]:
    """So many new names, in random order."""
    width = len(str(count))
    while any(re.fullmatch(rf"{letter}[0-9]{{{width}}}", name) for name in taken):
        letter += letter[0]
    return (f"{letter}{number:0{width}d}" for number in random.permutation(count))


def _columns_of(tables: Sequence[Table], name: str) -> list[pl.Series]:
    return [cells for table in tables if (cells := table.cells(name)) is not None]


def _unique(tables: Sequence[Table], name: str) -> pl.Series:
    import polars as pl

    found = [cells.unique(maintain_order=True) for cells in _columns_of(tables, name)]
    return pl.concat(found).unique(maintain_order=True) if found else pl.Series(name, [], dtype=pl.String)


def _categories(tables: Sequence[Table], name: str) -> list[str]:
    """A column's categories over all tables; none if it holds numbers, or texts that do not repeat."""
    import polars as pl

    columns = [cells.filter(cells != "") for cells in _columns_of(tables, name)]
    if not columns or any(table.is_text(name) for table in tables):
        return []
    cells = pl.concat(columns)
    values = cells.unique()
    if not 0 < values.len() <= _MOST or values.len() * _REPEATED > cells.len():
        return []
    if values.cast(pl.Float64, strict=False).is_not_null().any() or values.is_in(_TRUTH).any():
        return []
    return sorted(values.to_list())


def _base(tables: Sequence[Table], ids: Sequence[str]) -> str | None:
    """The column whose ids begin those of the sample, as in ``<id>_<position>``; of several, the one with fewest."""
    firsts = {id.rpartition(_JOINT)[0] for id in ids}
    if "" in firsts:
        return None
    fitting: dict[str, int] = {}
    for name in dict.fromkeys(name for table in tables for name in table.names):
        for cells in _columns_of(tables, name):
            values = set(cells.unique().to_list())
            if firsts <= values:
                fitting[name] = min(len(values), fitting.get(name, len(values)))
    return min(fitting, key=lambda name: fitting[name], default=None)


def _named_by(tables: Sequence[Table], stems: Collection[str], id: str) -> str | None:
    """The column whose values name most of the files in folders, the submission's own before others."""
    names = dict.fromkeys([id, *(name for table in tables for name in table.names)])
    counts = {name: int(_unique(tables, name).is_in(list(stems)).sum()) for name in names} if stems else {}
    best = max(counts, key=lambda name: counts[name], default=None)
    return best if best is not None and 2 * counts[best] >= len(stems) else None


def _renamed_ids(old: list[str], random: Generator) -> dict[str, str]:
    if any(len(id) > _LONGEST_ID or (re.search(r"\s", id) and re.search(r"[^\W\d_]", id)) for id in old):
        return {}
    old = [id for id in old if id]
    return dict(zip(old, fresh("r", len(old), old, random), strict=True))
