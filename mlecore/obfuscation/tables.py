"""Public tables under other names: files, columns, categories and ids renamed by a seed, rows in another order."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mlecore.errors import DataError, UsageError
from mlecore.facts import Facts
from mlecore.obfuscation.names import Names

if TYPE_CHECKING:
    import polars as pl
    from numpy.random import Generator

_DESCRIPTION = "description.md"
_MOST = 1000  # categories that a column may have
_REPEATED = 10  # times that a category occurs in the mean
_LONGEST_ID = 64  # characters; longer ones, or those with blanks, are texts
_TRUTH = ("true", "false", "True", "False", "TRUE", "FALSE")


def require_tables(facts: Facts, public: Path) -> None:
    """Raises UsageError, with the reason, for a competition that cannot be renamed."""
    others = sorted(path.name for path in public.iterdir() if path.suffix != ".csv" and path.name != _DESCRIPTION)
    if others:
        shown = ", ".join(others[:3]) + (" ..." if len(others) > 3 else "")
        raise _impossible(facts, f"its public data are not CSV tables alone: {shown}")
    if "!" in facts.sample or not facts.submission.id:
        raise _impossible(facts, "its submissions name no rows by an id in a plain sample")
    if odd := [name for name, column in facts.submission.columns.items() if column.type in ("mask", "records")]:
        raise _impossible(
            facts, f"its column {odd[0]} holds {facts.submission.columns[odd[0]].type} with names of their own"
        )


def _impossible(facts: Facts, why: str) -> UsageError:
    return UsageError(
        f"{facts.id} cannot be obfuscated in full: {why}",
        fix="Leave it out, or hide its description alone: --obfuscate description",
    )


def rename_tables(facts: Facts, public: Path, into: Path, seed: int) -> Names:
    """Write the tables of ``public`` into the folder ``into`` under new names; returns these.

    A text column is a column of categories if its values repeat (ten times in the mean, at most 1,000 of them) and none
    is a number. Equal categories get equal names in all columns, and that of the column if one has their name. Numbers,
    dates and texts keep their characters. Rows are shuffled, but in tables as long as the sample if a row is known by
    its place. Raises UsageError, see ``require_tables``, and DataError for what is no table.
    """
    import numpy as np

    require_tables(facts, public)
    random = np.random.default_rng(seed)
    tables = {path.name: _read(path) for path in sorted(public.glob("*.csv"))}
    sample = Path(facts.sample).name
    columns = _columns(tables, random)
    id = str(facts.submission.id)
    labels = _labels(tables, id, columns, random)
    ids = _ids(tables, id, random)
    names = Names(
        files=dict(zip(tables, (f"table_{n + 1}.csv" for n in random.permutation(len(tables))), strict=True)),
        columns=columns,
        labels=labels,
        ids={old: ids[old] for old in tables[sample][id]} if ids else {},
        id=id,
    )
    into.mkdir(parents=True, exist_ok=True)
    by_place = facts.submission.order == "sample" or tables[sample][id].is_duplicated().any()
    for file, table in tables.items():
        placed = by_place and table.height == tables[sample].height
        order = None if placed else random.permutation(table.height)
        _write(_renamed(table, names, ids), order, into / names.files[file])
    return names


def _read(path: Path) -> pl.DataFrame:
    """Every cell as text."""
    import polars as pl

    try:
        return pl.read_csv(path, infer_schema=False).fill_null("")
    except (pl.exceptions.PolarsError, OSError) as error:
        raise DataError(f"{path} cannot be read as a table: {error}") from None


def _columns(tables: Mapping[str, pl.DataFrame], random: Generator) -> dict[str, str]:
    old = list(dict.fromkeys(name for table in tables.values() for name in table.columns))
    return dict(zip(old, _fresh("c", len(old), old, random), strict=True))


def _labels(
    tables: Mapping[str, pl.DataFrame], id: str, columns: Mapping[str, str], random: Generator
) -> dict[str, dict[str, str]]:
    """Column -> category -> new name."""
    found = {name: values for name in columns if name != id and (values := _categories(tables, name))}
    old = sorted({value for values in found.values() for value in values} - columns.keys())
    new = {**columns, **dict(zip(old, _fresh("v", len(old), [*old, *columns], random), strict=True))}
    return {name: {value: new[value] for value in values} for name, values in found.items()}


def _categories(tables: Mapping[str, pl.DataFrame], name: str) -> list[str]:
    """A column's categories over all tables; none if it holds numbers, or texts that do not repeat."""
    import polars as pl

    cells = pl.concat([table[name].filter(table[name] != "") for table in tables.values() if name in table.columns])
    values = cells.unique()
    if not 0 < values.len() <= _MOST or values.len() * _REPEATED > cells.len():
        return []
    if values.cast(pl.Float64, strict=False).is_not_null().any() or values.is_in(_TRUTH).any():
        return []
    return sorted(values.to_list())


def _ids(tables: Mapping[str, pl.DataFrame], id: str, random: Generator) -> dict[str, str]:
    """Every id of the tables -> new one; none if they are texts."""
    import polars as pl

    cells = pl.concat([table[id] for table in tables.values() if id in table.columns]).unique(maintain_order=True)
    lengths: Any = cells.str.len_chars().max()
    if lengths is None or lengths > _LONGEST_ID or cells.str.contains(r"\s").any():
        return {}
    old = cells.to_list()
    return dict(zip(old, _fresh("r", len(old), old, random), strict=True))


def _fresh(letter: str, count: int, taken: list[str], random: Generator) -> Iterator[str]:
    """So many new names in an order that says nothing."""
    width = len(str(count))
    while any(re.fullmatch(rf"{letter}[0-9]{{{width}}}", name) for name in taken):
        letter += letter[0]
    return (f"{letter}{number:0{width}d}" for number in random.permutation(count))


def _renamed(table: pl.DataFrame, names: Names, ids: Mapping[str, str]) -> pl.DataFrame:
    import polars as pl

    changed = []
    for name in table.columns:
        new: Mapping[str, str] = ids if name == names.id else names.labels.get(name, {})
        if new:
            changed.append(pl.col(name).replace(list(new), list(new.values())))
    return table.with_columns(changed).rename({name: names.columns[name] for name in table.columns})


def _write(table: pl.DataFrame, order: Any, path: Path) -> None:
    shuffled = table if order is None else table[order]
    returns = any(shuffled[name].str.contains("\r", literal=True).any() for name in shuffled.columns)
    # a bare carriage return would end a row for some readers
    shuffled.write_csv(path, quote_style="always" if returns else "necessary")
