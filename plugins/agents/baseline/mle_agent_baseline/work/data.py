"""The files of the data folder, plain or in zip archives, and the tables among them."""

from __future__ import annotations

import csv
import io
import json
import os
import zipfile
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import IO

import numpy as np
import pandas as pd

MOST_FILES = 2_000_000
WHOLE = 400 << 20  # bytes; of a larger CSV the first rows are read, a larger JSON is not
# What pandas takes for missing, except in the columns that must stay as they are written.
MISSING = ["", "#N/A", "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"]


@dataclass(frozen=True)
class Source:
    """One file: on the disk, or a member of an archive there."""

    path: Path
    member: str | None
    place: str  # relative to the data, e.g. "train.zip/train/1.jpg"
    size: int

    @property
    def name(self) -> str:
        return PurePosixPath(self.place).name

    def open(self) -> IO[bytes]:
        return self.path.open("rb") if self.member is None else archive(self.path).open(self.member)

    def text(self) -> IO[str]:
        return io.TextIOWrapper(self.open(), encoding="utf-8-sig", errors="replace", newline="")


@lru_cache(maxsize=64)
def archive(path: Path) -> zipfile.ZipFile:
    return zipfile.ZipFile(path)


def files(data: Path) -> list[Source]:
    """Every file below ``data`` and every member of a zip archive there, plain ones first."""
    found: list[Source] = []
    for folder, folders, names in os.walk(data):
        folders.sort()
        for path in (Path(folder, name) for name in sorted(names)):
            place = path.relative_to(data).as_posix()
            if path.suffix.lower() == ".zip" and zipfile.is_zipfile(path):
                members = [info for info in archive(path).infolist() if not info.is_dir()]
                found += [Source(path, each.filename, f"{place}/{each.filename}", each.file_size) for each in members]
            else:
                found.append(Source(path, None, place, path.stat().st_size))
            if len(found) > MOST_FILES:
                break
    return sorted(found, key=lambda source: source.member is not None)


def columns(source: Source) -> list[str]:
    """Names of a table's columns; none where the file cannot be read as a table."""
    try:
        if source.name.lower().endswith((".csv", ".tsv")):
            with source.text() as text:
                return next(csv.reader(text, delimiter=separator(source)), [])
        return list(from_json(source).columns) if source.name.lower().endswith((".json", ".jsonl")) else []
    except (OSError, ValueError, csv.Error, MemoryError, zipfile.BadZipFile):
        return []


def separator(source: Source) -> str:
    return "\t" if source.name.lower().endswith(".tsv") else ","


def read(source: Source, keys: list[str], seed: int, most: int | None = None) -> pd.DataFrame:
    """A table with the columns ``keys`` as text; at most ``most`` rows, drawn at random, in their order."""
    if source.name.lower().endswith((".json", ".jsonl")):
        table = from_json(source).copy()
        table[keys] = table[keys].astype(str)
    else:
        with source.text() as text:
            table = pd.read_csv(
                text,
                sep=separator(source),
                dtype=dict.fromkeys(keys, str),
                keep_default_na=False,
                na_values={name: MISSING for name in columns(source) if name not in keys},
                low_memory=False,
                nrows=most if source.size > WHOLE else None,  # the first ones
            )
    if most is not None and len(table) > most:
        table = table.iloc[np.sort(np.random.default_rng(seed).choice(len(table), most, replace=False))]
    return table.reset_index(drop=True)


@lru_cache(maxsize=4)
def from_json(source: Source) -> pd.DataFrame:
    """A list of objects, or one object per line, as a table; lists in cells become text. Raises ValueError."""
    if source.size > WHOLE:
        raise ValueError("too large")
    with source.text() as text:
        rows = [json.loads(line) for line in text] if source.name.lower().endswith(".jsonl") else json.load(text)
    if not isinstance(rows, list) or not rows or not all(isinstance(row, dict) for row in rows):
        raise ValueError("not a list of objects")
    return pd.DataFrame(rows).map(lambda cell: " ".join(map(str, cell)) if isinstance(cell, list) else cell)
