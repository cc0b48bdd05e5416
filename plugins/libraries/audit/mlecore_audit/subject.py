"""A competition's prepared data as the checks need them: answers and labels by key, items and tables of both parts."""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from functools import cached_property, partial
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING

from mlecore.data.prepared import Prepared
from mlecore.errors import DataError, InvalidSubmission, MlecoreError
from mlecore.model.competition import Competition
from mlecore.model.facts import Facts
from mlecore.model.sample import open_sample
from mlecore_audit.files import Item, contents, listing
from mlecore_audit.finding import Level, medal
from mlecore_audit.matching import Matcher, part_of
from mlecore_audit.tables import Batches, numbers_of, readable_tables, tables
from mlecore_audit.training import (
    HEAD_ROWS,
    Role,
    TableRows,
    class_names,
    in_target_form,
    is_of_file_names,
    joined,
    role_of,
)

if TYPE_CHECKING:
    from pandas import DataFrame, Series

Progress = Callable[[int, int, str], None]  # (done, total or 0, step)

CLASS = "class"  # of one-hot answers
_TARGETS = 100  # that are compared with each public column
_TRAINING_ROWS = 1_000_000  # whose labels are kept
_TABLES = 200  # below one folder that are looked at; more of them are items, not lists of items
_NEARLY = 0.99  # of the sample's ids that a column with another name must hold, to be the ids
_NAME = re.compile(r"(?=.*[A-Za-z]|\d{5})[^\s,;.]{2,64}(\.[A-Za-z]\w{1,4})?")
_DISTINCT = 20  # names of things, in the head of a table
_HALF, _TENTH = 0.5, 0.1  # of the way from the sample's score to the perfect one


KEY = "|"  # between the parts of a key


class Subject:
    """One competition's prepared data. In frames every cell is text, and the index is the row's key.

    Where several columns name a submission's rows, a bar separates them in the key.
    """

    def __init__(self, competition: Competition, prepared: Prepared, progress: Progress | None = None) -> None:
        self.competition = competition
        self.prepared = prepared
        self.progress = progress or (lambda done, total, step: None)
        self.unexamined: dict[str, str] = {}  # file -> why it could not be read
        self._owners: dict[str, tuple[Role, str] | None] = {}

    @property
    def facts(self) -> Facts:
        return self.competition.facts

    @property
    def root(self) -> Path:
        """The prepared folder; names of files are relative to it."""
        return self.prepared.root

    def failed(self, name: str, why: str) -> None:
        """Note that a file could not be examined."""
        self.unexamined.setdefault(name, why)

    # --- the submission's rows

    @cached_property
    def perfect(self) -> DataFrame:
        """The best possible submission, in the order of the answers. Raises DataError if it cannot be read."""
        if self.competition.loaded.implements("perfect"):
            text = self.competition.perfect(self.prepared.private).to_csv(index=False, lineterminator="\n").encode()
        else:
            text = (self.root / (self.facts.gold_submission or self.facts.answers)).read_bytes()
        frame, id = _frame(text), self.competition.format.id
        if id is None or id in frame.columns:
            return frame
        own = [name for name in frame.columns if self._sample[id].isin(frame[name]).mean() >= _NEARLY]
        return frame.rename(columns={own[0]: id}) if own else frame

    @cached_property
    def _sample(self) -> DataFrame:
        with open_sample(self.facts, self.prepared.public) as path:
            return _frame(path.read_bytes())

    @cached_property
    def sample(self) -> DataFrame:
        """The sample submission in its own order, index: key."""
        return self._sample.set_index(joined(self._sample, self.keys).rename("key"))

    @cached_property
    def _columns(self) -> tuple[list[str], list[str]]:
        format, perfect, sample = self.competition.format, self.perfect, self._sample
        id = format.id if format.id in perfect.columns else None
        graded = [name for name in format.expand(list(sample.columns)) if name in perfect.columns and name != id]
        keys = [id] if id else []
        if perfect[id].duplicated().any() if id else True:  # further columns that the sample gives name the row, too
            keys += [name for name in graded if name in sample.columns and _same(sample, perfect, [*keys, name])]
        targets = [name for name in graded if name not in keys]
        if not graded:  # the answers have other names than a submission: any column but texts that differ in each row
            targets = [name for name in perfect.columns if name != id and not _is_prose(perfect[name])]
        if not keys or not targets:
            raise DataError(f"the answers of {self.facts.id} have no column that names their rows, or none to predict")
        return keys, targets

    @property
    def keys(self) -> list[str]:
        """The submission's columns that name a row, mostly one."""
        return self._columns[0]

    @property
    def targets(self) -> list[str]:
        """The submission's columns that are predicted."""
        return self._columns[1]

    @cached_property
    def answers(self) -> DataFrame:
        """What is to be predicted: index key, columns ``targets``. Of rows with the same key, the first."""
        frame = self.perfect.set_index(joined(self.perfect, self.keys).rename("key"))[self.targets]
        return frame[~frame.index.duplicated()]

    @cached_property
    def train(self) -> DataFrame | None:
        """The labels of training rows in the form of ``answers``; None if no public table has them."""
        import pandas as pd

        tables = [table for table in self.tables("train") if table.key]
        plain = [table for table in tables if not is_records(table.where)] or tables
        found: list[DataFrame] = []
        for table in plain:
            if table.labels != plain[0].labels or table.key != plain[0].key:
                continue
            for frame in table.batches(dict.fromkeys((*table.key, *table.labels))):
                labels = in_target_form(frame, table.labels, self.targets)
                found.append(labels.set_index(joined(frame, table.key).rename("key")))
                if sum(map(len, found)) >= _TRAINING_ROWS:
                    break
        if not found:
            return None
        labels = pd.concat(found)
        if set(self.answers[self.targets[0]].unique()) <= {"0", "1"}:
            labels = labels.replace({"False": "0", "True": "1", "false": "0", "true": "1"})  # JSON has booleans
        return labels[~labels.index.duplicated()]

    @cached_property
    def truths(self) -> DataFrame:
        """What public columns are compared with: the answers, and of one-hot rows the class (column ``class``)."""
        answers = self.answers
        found = answers[self.targets[:_TARGETS]]
        if len(self.targets) > 1:
            chosen = answers.isin(["1", "1.0"])
            if (chosen.sum(axis=1) == 1).all() and answers.isin(["0", "1", "0.0", "1.0"]).all(axis=None):
                found = found.assign(**{CLASS: chosen.idxmax(axis=1)})
        return found

    def as_targets(self, name: str, predictions: Series[str]) -> DataFrame:
        """Predictions of one column of ``truths`` as cells of a submission."""
        frame = predictions.to_frame(name)
        return in_target_form(frame, [name], self.targets) if name == CLASS else frame

    # --- scores

    def score(self, predictions: DataFrame) -> float | None:
        """The score of a submission with these cells (index: keys, columns: some targets) and the sample's elsewhere.

        None if the competition rejects it.
        """
        submission = self._skeleton.copy()
        known = predictions.index.intersection(submission.index)
        for column in predictions.columns:
            submission.loc[known, column] = predictions.loc[known, column].astype(str)
        return self.score_of(submission)

    def score_cells(self, predictions: DataFrame | None) -> float | None:
        """``score``; None without predictions."""
        return None if predictions is None else self.score(predictions)

    def score_of(self, submission: DataFrame) -> float | None:
        """The score of a whole submission, every cell as text; None if the competition rejects it."""
        with suppress(InvalidSubmission, MlecoreError):
            return self.competition.grade(
                submission.reset_index(drop=True), self.prepared.private, self.prepared.public
            )
        return None

    @cached_property
    def _skeleton(self) -> DataFrame:
        """The answers' rows and columns with the sample's predictions."""
        frame = self.perfect.set_index(joined(self.perfect, self.keys).rename("key")).copy()
        sample = self.sample[~self.sample.index.duplicated()]
        for target in self.targets:
            if target in sample.columns:
                usual = sample[target].mode().iloc[0] if len(sample) else ""
                frame[target] = sample[target].reindex(frame.index).fillna(usual)
        return frame

    @cached_property
    def sample_score(self) -> float | None:
        return self.score_of(self._skeleton)

    @cached_property
    def perfect_score(self) -> float | None:
        return self.score_of(self.perfect)

    def gain(self, score: float | None) -> float:
        """How far a score is on the way from the sample's to the perfect one: 0 to 1; 0 where that is unknown."""
        base, best = self.sample_score, self.perfect_score
        if score is None or base is None or best is None or base == best:
            return 0.0
        share = (score - base) / (best - base)
        return min(1.0, max(0.0, share)) if share == share else 0.0

    def level_of(self, score: float | None) -> Level:
        """Level of a flaw by what it alone scores: a leak for a medal or half the way to a perfect score, else less."""
        gain = self.gain(score)
        has_medal = score is not None and not self.prepared.synthetic and medal(score, self.facts) in _MEDALS
        return "leak" if has_medal or gain >= _HALF else "caution" if gain >= _TENTH else "note"

    # --- items

    @cached_property
    def names(self) -> list[Item]:
        """Every public file and member of an archive, without its content."""
        self.progress(0, 0, "listing files")
        return list(listing(self.root, self.failed))

    def key_of(self, item: Item) -> tuple[Role, str] | None:
        """The part and the key of an item; None if it belongs to no row. Its folders decide where both parts fit."""
        if item.name not in self._owners:
            self._owners[item.name] = self._owner(item)
        return self._owners[item.name]

    def _owner(self, item: Item) -> tuple[Role, str] | None:
        part = part_of(item.inner)
        if part != "train" and (key := self._test_keys(item.inner)) is not None:
            return "test", key
        if part != "test" and (key := self._train_keys(item.inner)) is not None:
            return "train", key
        return None

    @cached_property
    def _test_keys(self) -> Matcher:
        return Matcher(self.answers.index, self._file_names("test"))

    @cached_property
    def _train_keys(self) -> Matcher:
        if self.train is None:
            return Matcher([])
        return Matcher(map(str, self.train.index), self._file_names("train"))

    def _file_names(self, part: Role) -> dict[str, str]:
        """Names of files in tables that name each row's -> the row's key."""
        names: dict[str, str] = {}
        for table in self.tables(part):
            if not table.key or is_records(table.where):
                continue
            for column in [c for c in table.head if c not in table.key and is_of_file_names(table.head[c])]:
                for frame in table.batches(dict.fromkeys((column, *table.key))):
                    names |= dict(zip(frame[column], joined(frame, table.key), strict=True))
        return names

    @cached_property
    def aliases(self) -> dict[str, str]:
        """Names of things in columns of test tables -> the key of the first row with each."""
        found: dict[str, str] = {}
        for table in self.tables("test"):
            columns = [name for name in table.head if name not in table.key and _names_something(table.head[name])]
            if columns and table.key and not is_records(table.where):
                for frame in table.batches(dict.fromkeys((*columns, *table.key))):
                    keys = joined(frame, table.key)
                    for name in columns:
                        found = dict(zip(frame[name][::-1], keys[::-1], strict=True)) | found
        return found

    @cached_property
    def _items(self) -> dict[Role, dict[str, list[Item]]]:
        found: dict[Role, dict[str, list[Item]]] = {"train": {}, "test": {}}
        for item in self.names:
            if (owner := self.key_of(item)) is not None:
                found[owner[0]].setdefault(owner[1], []).append(item)
        return found

    def items(self, part: Role) -> dict[str, list[Item]]:
        """The files whose name or folder holds a key of this part, by key; in the order of the folder or archive."""
        return self._items[part]

    def contents(self) -> Iterator[tuple[Item, IO[bytes]]]:
        """Every public file and member with its content, archives in archives too. A stream is valid until the next."""
        total, done = sum(item.size for item in self.names if "!" not in item.name), 0
        for item, stream in contents(self.root, self.failed):
            self.progress(done, total, "reading files")
            yield item, stream
            done += item.size if "!" not in item.name else 0

    @cached_property
    def things(self) -> dict[str, list[str]]:
        """What several rows belong to, such as a drive or a page: the first part of a key -> keys, in their order.

        Empty if rows have files of their own, or no file's path holds such a part.
        """
        keys = list(self.answers.index)
        if len(self.keys) == 1 and len(self.items("test")) >= len(keys) * _HALF:
            return {}
        cuts = [self._cut(keys, KEY)] if len(self.keys) > 1 else [self._cut(keys, "_", n) for n in (1, 2, 3)]
        for things in cuts:
            if len(things) < len(keys) * _HALF and any(map(Matcher(things), (item.inner for item in self.names))):
                return things
        return {}

    @staticmethod
    def _cut(keys: list[str], separator: str, times: int = 1) -> dict[str, list[str]]:
        things: dict[str, list[str]] = {}
        for key in keys:
            things.setdefault(key.rsplit(separator, times)[0], []).append(key)
        return things

    # --- tables

    def tables(self, part: Role) -> list[TableRows]:
        """The public tables with a row for each item of this part, the sample submission left out."""
        return [table for table in self._tables if table.role == part]

    @cached_property
    def _tables(self) -> list[TableRows]:
        found = []
        classes, ids = class_names(self.answers), frozenset(self.answers.index)
        alike: Counter[str] = Counter()

        def wanted(item: Item) -> bool:
            path = PurePosixPath(item.name)
            kind = "/".join((*path.parts[: min(2, len(path.parts) - 1)], path.suffix))
            alike[kind] += 1
            return alike[kind] <= _TABLES

        for where, batches in tables(self.root, self.failed, wanted):
            frame = next(batches, None)
            if where == self.facts.sample or frame is None or frame.empty:
                continue
            role = role_of(frame, self.keys, self.targets, ids, classes)
            if role is not None:
                found.append(TableRows(where, *role, frame.head(HEAD_ROWS).copy(), partial(self.read_table, where)))
        return found

    def read_table(self, where: str, columns: Collection[str] | None = None) -> Batches:
        """The batches of one public table, by its name: "public/x.zip!train.csv", "public/x.json#part".

        With ``columns``, only those.
        """
        name, _, part = where.partition("#")
        item = next(item for item in self.names if item.name == name)
        with item.open() as stream:
            for own, batches in readable_tables(item, stream, self.failed, columns):
                if own == (f"#{part}" if part else ""):
                    chosen = list(columns) if columns is not None else slice(None)
                    yield from (frame.loc[:, chosen] for frame in batches)
                    return


_MEDALS = ("gold", "silver", "bronze")


def is_records(where: str) -> bool:
    """Is a table a file of records with pictures, which is slow to read?"""
    return where.endswith((".tfrec", ".tfrecord", ".tfrecords"))


def _frame(text: bytes) -> DataFrame:
    import pandas as pd

    return pd.read_csv(io.BytesIO(text), dtype=str, keep_default_na=False)


def _names_something(column: Series[str]) -> bool:
    """Does it hold many short words, or whole numbers of some digits, as ids of something do?"""
    is_name = column.str.fullmatch(_NAME.pattern).mean() > _NEARLY
    return bool(is_name) and column.nunique() >= _DISTINCT


def _is_prose(column: Series[str]) -> bool:
    numbers = numbers_of(column)
    return column.nunique() > len(column) / 2 and bool((numbers != numbers).mean() > _TENTH)


def _same(sample: DataFrame, perfect: DataFrame, columns: list[str]) -> bool:
    """Do both hold the same rows in these columns, in any order?"""
    first, second = (joined(frame, columns) for frame in (sample, perfect))
    return len(first) == len(second) and sorted(first) == sorted(second)
