"""Works out what is asked: which table is for training, which holds the test rows, what is the id, what the target."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import tables
from inventory import Inventory, Source
from submit import Sample, family


class NoModel(Exception):
    """This agent has no model for such a competition; the message says why."""


@dataclass
class Problem:
    """A table to learn from, and one with a row for each row of the sample."""

    sample: Sample
    train: pd.DataFrame
    test: pd.DataFrame  # rows as in the sample
    keys: list[str]  # columns that name a row
    targets: list[str]  # columns of train that are asked for
    classes: list[str] = field(default_factory=list)  # the sample's columns, where each is a class of the one target

    @property
    def asked(self) -> list[str]:
        """The sample's columns that are to be predicted."""
        return self.classes or self.targets


@dataclass(frozen=True)
class Table:
    source: Source
    columns: list[str]

    def says(self, *words: str) -> bool:
        return any(word in self.source.place.lower() for word in words)


def candidates(inventory: Inventory) -> list[Table]:
    """Readable tables other than sample submissions; of equal ones packed and plain, the plain one."""
    found: dict[tuple[str, tuple[str, ...]], Table] = {}
    for source in sorted(inventory.tables, key=lambda s: (s.member is not None, s.place)):
        columns = tables.header(source)
        if columns and not re.search(r"sample|submission", source.name.lower()):
            found.setdefault((source.name, tuple(columns)), Table(source, columns))
    return list(found.values())


def understand(inventory: Inventory, sample: Sample, seed: int) -> Problem:
    """Raises NoModel if the tables do not make it plain."""
    known = candidates(inventory)
    test = find_test(known, sample)
    train, targets, classes = find_train(known, sample, test, seed)
    given = [name for name in sample.columns if name not in targets and name not in classes]
    keys = [name for name in given if test is not None and name in test.columns]
    keys = keys or [name for name in given if name in train.columns][: None if test is None else 1]
    if not keys and test is None:
        raise NoModel("nothing connects the sample's rows with the data")
    most = tables.cap(len(train.columns))
    learn = tables.read(train.source, [key for key in keys if key in train.columns], seed, most)
    learn = learn[learn[targets].notna().all(axis=1)].reset_index(drop=True)
    if len(learn) < 10:
        raise NoModel(f"{train.source.place} has too few rows with a target")
    return Problem(sample, learn, test_rows(sample, test, keys, seed), keys, targets, classes)


def find_test(known: list[Table], sample: Sample) -> Table | None:
    """The table with the features of the sample's rows: it shares columns with the sample, and lacks others."""
    fitting = []
    for table in known:
        shared = [name for name in sample.columns if name in table.columns]
        if (
            shared
            and len(shared) < len(sample.columns)
            and not table.says("train", "label")
            and covers(table, sample, shared)
        ):
            fitting.append(table)
    return max(fitting, key=lambda table: (table.says("test"), len(table.columns)), default=None)


def covers(table: Table, sample: Sample, shared: list[str]) -> bool:
    """Does the table name every row of the sample?"""
    rows = tables.read(table.source, shared, seed=0, only=shared)[shared]
    if len(rows) == len(sample.table) and (rows.to_numpy() == sample.table[shared].to_numpy()).all():
        return True
    key = shared[0]
    return bool(sample.table[key].isin(set(rows[key])).all())


def find_train(known: list[Table], sample: Sample, test: Table | None, seed: int) -> tuple[Table, list[str], list[str]]:
    """The table that holds what is asked, its target columns, and the sample's columns that are classes of it."""
    others = [table for table in known if table is not test and not (test is None and table.says("test"))]
    others.sort(
        key=lambda table: (not table.says("train"), not table.says("label"), -len(table.columns), table.source.place)
    )
    given = set(test.columns) if test else set()
    for table in others:
        asked = [name for name in sample.columns if name in table.columns and name not in given]
        if test is None:
            asked = [name for name in asked if not names_rows(sample, name)]
        if asked and len(asked) + len(given & set(sample.columns)) >= len(sample.columns) - 1:
            return table, asked, []
    for table in others:
        column, classes = spread(table, sample, given, seed)
        if column:
            return table, [column], classes
    raise NoModel("no table holds what the sample asks for")


def names_rows(sample: Sample, column: str) -> bool:
    """Is this column of the sample an id, rather than a value to be predicted?"""
    return bool(sample.table[column].is_unique) and column == next(
        name for name in sample.columns if sample.table[name].is_unique
    )


def spread(table: Table, sample: Sample, given: set[str], seed: int) -> tuple[str, list[str]]:
    """The column of a table whose values are columns of the sample, a probability each."""
    wanted = [name for name in sample.columns if name not in given and not names_rows(sample, name)]
    if len(wanted) < 2:
        return "", []
    rows = tables.read(table.source, [], seed, 50_000)
    for name in table.columns:
        if name in given:
            continue
        values = {spelled(value) for value in rows[name].dropna().unique()[:5000]}
        if 2 <= len(values) <= len(wanted) and values <= set(wanted):
            return name, wanted
    return "", []


def spelled(value: object) -> str:
    """A class as a column's name would write it: whole numbers without a point."""
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(value))
    return str(value)


def test_rows(sample: Sample, test: Table | None, keys: list[str], seed: int) -> pd.DataFrame:
    """The test table in the order of the sample's rows; only the keys where there is no such table."""
    if test is None:
        return sample.table[keys].copy()
    rows = tables.read(test.source, keys, seed)
    wanted = sample.table[keys]
    if len(rows) == len(wanted) and (rows[keys].to_numpy() == wanted.to_numpy()).all():
        return rows
    single = rows.drop_duplicates(keys)
    if len(rows) > 1.5 * len(single):
        raise NoModel(f"{test.source.place} has several rows for one of the sample's")
    return wanted.merge(single, on=keys, how="left")


def wants(metric: str, target: pd.Series, asked: pd.Series) -> str:
    """One of "probability", "number", "class": by the metric, else by what the columns look like."""
    by_metric = family(metric)
    if by_metric != "unknown":
        return by_metric
    numbers = pd.to_numeric(target, errors="coerce")
    if numbers.notna().all() and target.nunique() > 20:
        return "number"
    sample = pd.to_numeric(asked, errors="coerce")
    return "probability" if sample.notna().all() and (sample % 1 != 0).any() else "class"
