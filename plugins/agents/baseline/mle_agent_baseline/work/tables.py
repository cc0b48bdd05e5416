"""Reads tables: CSV and JSON, plain or in archives, whole or as a sample of rows."""

from __future__ import annotations

import csv
import json
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from inventory import Source, lines

JSON_MOST = 500 << 20  # bytes; a larger one is not read
CSV_WHOLE = 400 << 20  # bytes; of a larger one rows are drawn
CELLS = 24_000_000  # that a training table may have

# What pandas takes for missing, but for the columns that must stay as they are written.
MISSING = ["", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A"]
MISSING += ["NA", "NULL", "NaN", "None", "n/a", "nan", "null"]


def header(source: Source) -> list[str]:
    """Names of a table's columns; none where it cannot be read as a table."""
    try:
        if source.name.lower().endswith((".json", ".jsonl")):
            return list(_json(source).columns)
        with lines(source) as text:
            return next(csv.reader(text, delimiter=delimiter(source)), [])
    except (OSError, ValueError, csv.Error, MemoryError):
        return []


def delimiter(source: Source) -> str:
    with lines(source) as text:
        first = text.readline(1 << 16)
    return max(",\t;|", key=first.count)  # the comma where there is none


def as_text(source: Source) -> pd.DataFrame:
    """Every cell as it is written; none is missing."""
    with lines(source) as text:
        return pd.read_csv(text, sep=delimiter(source), dtype=str, keep_default_na=False)


def read(
    source: Source, keys: list[str], seed: int, most: int | None = None, only: list[str] | None = None
) -> pd.DataFrame:
    """A table with the columns ``keys`` as text, at most ``most`` rows drawn at random (in their order)."""
    if source.name.lower().endswith((".json", ".jsonl")):
        table = _json(source).copy()
        for key in keys:
            table[key] = table[key].astype(str)
        return _drawn(table, most, seed)
    names = header(source)
    options: dict[str, Any] = {
        "sep": delimiter(source),
        "dtype": dict.fromkeys(keys, str),
        "usecols": only,
        "keep_default_na": False,
        "na_values": {name: MISSING for name in only or names if name not in keys},
    }
    if most is None or source.size < CSV_WHOLE:
        with lines(source) as text:
            return _drawn(pd.read_csv(text, low_memory=False, **options), most, seed)
    rng = np.random.default_rng(seed)
    share = min(1.0, 1.2 * most / max(1, _rows(source)))
    with lines(source) as text, pd.read_csv(text, chunksize=200_000, **options) as chunks:
        parts = [chunk[rng.random(len(chunk)) < share] for chunk in chunks]
    return _drawn(pd.concat(parts, ignore_index=True), most, seed)


def cap(columns: int) -> int:
    """How many rows of so many columns are enough to learn from."""
    return max(1_000, min(400_000, CELLS // max(1, columns)))


def _rows(source: Source) -> int:
    """About how many there are, from the length of the first ones."""
    with source.open() as stream:
        start = stream.read(1 << 20)
    return int(source.size / max(1.0, len(start) / max(1, start.count(b"\n"))))


def _drawn(table: pd.DataFrame, most: int | None, seed: int) -> pd.DataFrame:
    if most is None or len(table) <= most:
        return table.reset_index(drop=True)
    chosen = np.sort(np.random.default_rng(seed).choice(len(table), most, replace=False))
    return table.iloc[chosen].reset_index(drop=True)


@lru_cache(maxsize=4)
def _json(source: Source) -> pd.DataFrame:
    """A list of objects, or one object per line, as a table; lists in cells become text."""
    if source.size > JSON_MOST:
        raise ValueError("too large")
    with lines(source) as text:
        if source.name.lower().endswith(".jsonl"):
            rows = [json.loads(line) for line in text if line.strip()]
        else:
            rows = json.load(text)
    if not isinstance(rows, list) or not rows or not all(isinstance(row, dict) for row in rows):
        raise ValueError("not a list of objects")
    table = pd.DataFrame(rows)
    for name in table.columns:
        if table[name].map(lambda cell: isinstance(cell, (list, dict))).any():
            table[name] = table[name].map(_flat)
    return table


def _flat(cell: object) -> object:
    if isinstance(cell, list):
        return " ".join(str(item) for item in cell)
    return None if isinstance(cell, dict) else cell
