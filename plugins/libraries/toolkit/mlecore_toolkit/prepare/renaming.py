"""New names and numbers for test items in editions after v1, where the old ones reveal labels, times or places.

They depend on the seed and the set of items, not on their order. Write rows and members in the order of the new names,
because the old order would reveal which is which.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from mlecore.errors import DataError
from mlecore_toolkit.prepare.tables import write_csv

if TYPE_CHECKING:
    from pandas import DataFrame

T = TypeVar("T", int, str)


def new_names(old: Iterable[str], form: str, *, seed: int, taken: Iterable[str] = ()) -> dict[str, str]:
    """Old name to new name: ``form`` with a random hexadecimal digit for each ``#``, such as ``########.wav``.

    New names are distinct, and are neither old names nor in ``taken``. The result is in the order of the new names.
    Raises DataError if ``form`` has too few digits.
    """
    names = sorted(set(old))
    used = {*names, *taken}
    digits = form.count("#")
    if 16**digits < 2 * (len(names) + len(used)):
        raise DataError(f"{form!r} has too few digits for {len(names):,} new names")
    draw = random.Random(seed)
    new = {}
    for name in names:
        while (chosen := _filled(form, f"{draw.getrandbits(4 * digits):0{digits}x}")) in used:
            pass
        used.add(chosen)
        new[name] = chosen
    return dict(sorted(new.items(), key=lambda pair: pair[1]))


def shuffled(old: Iterable[T], *, seed: int) -> dict[T, T]:
    """Old value to new value: a random permutation of the distinct values, in the order of the new ones.

    For ids whose set must stay the same, such as row numbers.
    """
    new = sorted(set(old))
    dealt = list(new)
    random.Random(seed).shuffle(dealt)
    return dict(zip(dealt, new, strict=True))


def rename_rows(table: DataFrame, column: str, new: Mapping[Any, Any]) -> DataFrame:
    """``table`` with new values in ``column``, sorted by them; rows with the same value keep their order.

    Raises DataError if ``new`` lacks a value.
    """
    renamed = table.assign(**{column: table[column].map(new)})
    if (lost := renamed[column].isna()).any():
        first = table.loc[lost, column].iloc[0]
        raise DataError(f"{column} {first} has no new name ({int(lost.sum()):,} have none)")
    return renamed.sort_values(column, kind="stable")


def write_renamed(new: Mapping[T, T], path: Path) -> None:
    """Write a table ``old,new`` for ``private/``, the only record of which item is which."""
    import pandas as pd

    write_csv(pd.DataFrame({"old": list(new), "new": list(new.values())}), path)


def _filled(form: str, digits: str) -> str:
    left = iter(digits)
    return re.sub("#", lambda _: next(left), form)
