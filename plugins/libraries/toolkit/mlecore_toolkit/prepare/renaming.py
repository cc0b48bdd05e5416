"""New names and numbers for test items in editions after v1, where the old ones lead to labels, times or places.

They depend on the seed and on which items there are, not on the items' order. Write rows and members in the order of
the new ones: the old order would tell them.
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

    New names are distinct, and neither old names nor ``taken``. Equal old names become equal new ones; the order of the
    result is that of the new names. Raises DataError if ``form`` has too few digits.
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
    """Old value to new value: the same distinct ones, dealt out at random; the result is in the order of the new ones.

    For ids that must keep their set, such as row numbers.
    """
    new = sorted(set(old))
    dealt = list(new)
    random.Random(seed).shuffle(dealt)
    return dict(zip(dealt, new, strict=True))


def rename_rows(table: DataFrame, column: str, new: Mapping[Any, Any]) -> DataFrame:
    """``table`` with the new values in ``column``, sorted by them; rows of one value keep their order.

    Raises DataError for a value without a new one.
    """
    renamed = table.assign(**{column: table[column].map(new)})
    if (lost := renamed[column].isna()).any():
        first = table.loc[lost, column].iloc[0]
        raise DataError(f"{column} {first} has no new name ({int(lost.sum()):,} have none)")
    return renamed.sort_values(column, kind="stable")


def write_renamed(new: Mapping[T, T], path: Path) -> None:
    """A table ``old,new``, for ``private/``: the only record of which item is which."""
    import pandas as pd

    write_csv(pd.DataFrame({"old": list(new), "new": list(new.values())}), path)


def _filled(form: str, digits: str) -> str:
    left = iter(digits)
    return re.sub("#", lambda _: next(left), form)
