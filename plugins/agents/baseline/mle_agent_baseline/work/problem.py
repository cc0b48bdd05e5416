"""Works out what is asked: which table is for training, which has the test rows, the ids and the targets."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from pathlib import Path

import data
import numpy as np
import pandas as pd
from data import Source

CELLS = 24_000_000  # of a training table that are enough to learn from


class NoModel(Exception):
    """This agent has no model for such a competition; the message says why."""


@dataclass(frozen=True)
class Problem:
    """A table to learn from, and one with a row for each row of the sample."""

    train: pd.DataFrame
    test: pd.DataFrame  # rows as in the sample
    keys: list[str]  # columns that name a row
    targets: list[str]  # columns of train that are asked for
    classes: list[str]  # the sample's columns, if each is the probability of a class of the one target


def understand(files: list[Source], sample: pd.DataFrame, seed: int) -> Problem:
    """Raises NoModel if the tables do not make it plain."""
    tables: dict[tuple[str, ...], Source] = {}
    for source in files:
        names = data.columns(source)
        if names and not re.search(r"sample|submission", source.name.lower()):
            tables.setdefault((source.name, *names), source)  # of equal ones packed and plain, the plain one
    known = {source: list(names[1:]) for names, source in tables.items()}
    test = test_table(known, sample)
    given = set(known[test]) if test else {unique_column(sample)}
    train, targets, classes = train_table(known, sample, test, given, seed)
    keys = [name for name in sample.columns if name not in targets and name not in classes]
    keys = [name for name in keys if name in given]
    learn = data.read(
        train, [key for key in keys if key in known[train]], seed, most=min(400_000, CELLS // len(known[train]))
    ).dropna(subset=targets, ignore_index=True)
    if len(learn) < 10:
        raise NoModel(f"{train.place} has too few rows with a target")
    return Problem(learn, test_rows(sample, test, keys, seed), keys, targets, classes)


def unique_column(sample: pd.DataFrame) -> str:
    """The column that names the sample's rows."""
    return str(next((name for name in sample.columns if sample[name].is_unique), sample.columns[0]))


def test_table(known: dict[Source, list[str]], sample: pd.DataFrame) -> Source | None:
    """The table with the features of the sample's rows: it has some of the sample's columns, but not all."""
    fitting = []
    for source, names in known.items():
        shared = [name for name in sample.columns if name in names]
        if not shared or len(shared) == len(sample.columns) or re.search("train|label", source.place.lower()):
            continue
        if set(sample[shared[0]]) <= set(data.read(source, shared, seed=0)[shared[0]]):
            fitting.append(source)
    return max(fitting, key=lambda source: ("test" in source.place.lower(), len(known[source])), default=None)


def train_table(
    known: dict[Source, list[str]], sample: pd.DataFrame, test: Source | None, given: set[str], seed: int
) -> tuple[Source, list[str], list[str]]:
    """The table with what is asked, its target columns, and the sample's columns that are classes of a target."""
    wanted = [name for name in sample.columns if name not in given]

    def fitness(source: Source) -> tuple[bool, bool, int]:
        place = source.place.lower()
        return "train" in place, "label" in place, len(known[source])

    others = sorted((source for source in known if source != test), key=fitness, reverse=True)
    for source in others:
        if wanted and set(wanted) <= set(known[source]):
            return source, wanted, []
    for source in others if len(wanted) > 1 else ():
        rows = data.read(source, [], seed, most=50_000)
        for name in rows.columns.difference(given):
            values = set(rows[name].dropna().map(spelled))
            if len(values) > 1 and values <= set(wanted):
                return source, [name], wanted
    raise NoModel("no table holds what the sample asks for")


def spelled(value: object) -> str:
    """A class as a column's name spells it: whole numbers without a point."""
    return str(int(value)) if isinstance(value, (float, np.floating)) and value.is_integer() else str(value)


def test_rows(sample: pd.DataFrame, test: Source | None, keys: list[str], seed: int) -> pd.DataFrame:
    """The test table in the order of the sample's rows; only the keys where there is no such table."""
    if test is None:
        return sample[keys].copy()
    rows = data.read(test, keys, seed)
    if len(rows) == len(sample) and (rows[keys].to_numpy() == sample[keys].to_numpy()).all():
        return rows
    single = rows.drop_duplicates(keys)
    if len(rows) > 1.5 * len(single):
        raise NoModel(f"{test.place} has several rows for one of the sample's")
    return sample[keys].merge(single, on=keys, how="left")


def write(sample: pd.DataFrame, predictions: dict[str, np.ndarray], path: Path) -> None:
    """The sample with the predicted columns in the place of its own. Raises ValueError for what would be invalid."""
    for column, values in predictions.items():
        if values.dtype.kind == "f" and not np.isfinite(values).all():
            raise ValueError(f"a prediction of {column} is not finite")
    # Python before 3.13 does not quote a lone carriage return, and readers take it for the end of a row.
    odd = any(sample[name].str.contains("\r", regex=False).any() for name in sample.columns)
    sample.assign(**predictions).to_csv(path, index=False, quoting=csv.QUOTE_ALL if odd else csv.QUOTE_MINIMAL)
