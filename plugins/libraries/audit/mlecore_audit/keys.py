"""Which rows of public tables belong to which test rows, however the table spells their keys."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from mlecore_audit.training import joined

if TYPE_CHECKING:
    from pandas import DataFrame

_FEWEST = 2  # rows that a column must name, to be taken for a key
_SHARE = 0.5  # of a batch's rows, or of all test rows, that such a column must name
_PROBE = 50  # cells that show whether a column holds paths
_COLUMNS = 2000  # of a table that are looked at
_SUFFIX = re.compile(r"\.[A-Za-z][A-Za-z0-9]{1,5}$")


class Keys:
    """The keys of some test rows, evenly chosen."""

    def __init__(
        self, keys: Sequence[str], names: Sequence[str], most: int, aliases: Mapping[str, str] | None = None
    ) -> None:
        """``aliases``: other names of rows, in place of their keys."""
        rows = np.linspace(0, len(keys) - 1, min(len(keys), most)).astype(int)
        self.chosen = [keys[row] for row in rows]
        self._names = list(names)
        self._spelled: dict[str, str] = {}
        if aliases is not None:
            known = set(self.chosen)
            self._spelled = {alias: key for alias, key in aliases.items() if key in known}
            self.chosen = sorted(set(self._spelled.values()))
            return
        for key in self.chosen:
            self._spelled[key] = key
        for key in self.chosen:
            for text in (_bare(key), _number(key)):
                self._spelled.setdefault(text, key)

    def rows(self, frame: DataFrame) -> Iterator[tuple[str, DataFrame]]:
        """For each column that names test rows: its name, and those rows with their key as index."""
        if len(self._names) > 1:
            if set(self._names) <= set(frame.columns):
                yield self._names[0], _found(frame, self._keys(joined(frame, self._names)))
            return
        for column in list(frame.columns)[:_COLUMNS]:
            cells = frame[column].tolist()  # lists, as documents of an item each are thousands of small tables
            keys = self._keys(cells)
            if not any(keys) and any(_bare(cell) != cell for cell in cells[:_PROBE]):
                keys = self._keys(map(_bare, cells))
            hits = len(keys) - keys.count(None)
            if hits >= _FEWEST and (column in self._names or hits >= _SHARE * min(len(frame), len(self.chosen))):
                yield column, _found(frame, keys)

    def find(self, word: str) -> str | None:
        """The test row that a word names, as it is or as a file's name."""
        key = self._spelled.get(word)
        return self._spelled.get(_bare(word)) if key is None and "." in word and word[-1].isalpha() else key

    def _keys(self, cells: Iterable[str]) -> list[str | None]:
        return list(map(self._spelled.get, cells))


def _found(frame: DataFrame, keys: Sequence[str | None]) -> DataFrame:
    known = np.array([key is not None for key in keys])
    return frame[known].set_axis([key for key in keys if key is not None], axis=0)


def _bare(text: str) -> str:
    """The last part of a path, without a suffix."""
    return _SUFFIX.sub("", text.replace("\\", "/").rpartition("/")[2])


def _number(text: str) -> str:
    """Without leading zeros: 007 is 7."""
    return text.lstrip("0") if text.isdecimal() and text.strip("0") else text
