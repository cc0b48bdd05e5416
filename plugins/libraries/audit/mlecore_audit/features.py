"""What names, places, sizes, times and headers of items say, as features by key: nothing of what is in them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import IO, TYPE_CHECKING, Literal

import numpy as np
from attrs import frozen

from mlecore_audit.fields import Fields, reader_of, table_of
from mlecore_audit.files import HEAD, Item
from mlecore_audit.keys import Keys
from mlecore_audit.subject import Subject
from mlecore_audit.tables import numbers_of
from mlecore_audit.training import Role, is_of_file_names, joined

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from pandas import DataFrame, Series

Origin = Literal["order", "rows", "name", "content", "size", "digit", "neighbour"]
"""``order``: where an item stands among others, or a row by its id. ``rows``: where a row stands in a table.
``name``: what an item is called. ``content``: its header. ``size``: in bytes, which content decides. ``digit``: the
last one of a number or a time, which content does not decide. ``neighbour``: the label of the training row whose id is
nearest."""

_ITEMS = 4000  # of each part whose headers are read
_ROWS = 200_000  # of a table by which its order is judged
_DIGITS = re.compile(r"\d+")
_LETTERS = re.compile(r"[A-Za-z]{2,}")
_COLUMNS = 100  # of a table whose last digits are looked at
_DISTINCT = 50  # values of a column that has last digits beside its content
_GROUPS = 3  # times fewer runs of a value than rows, from which on a column groups rows


@frozen(kw_only=True)
class Feature:
    """One feature of items of one part."""

    file: str  # where it is seen: a folder, an archive, a table
    name: str  # "position in the archive", "size in bytes", "EXIF Software"
    origin: Origin
    values: Series[str] | Series[float]  # by key; text: categories
    whole: Series[float] | None = None  # the numbers that have a last digit; of neighbours, the ids' places


def features(subject: Subject, part: Role, content: bool = True) -> Iterator[Feature]:
    """All features of the items and rows of one part; no order of rows that a table keeps together by a group.

    Without ``content``, no file is opened but tables and archives.
    """
    yield from _of_files(subject, part, content)
    if len(subject.keys) > 1 or subject.things:  # rows of a thing stand together, in an order of their own
        return
    tables = list(_of_tables(subject, part))
    yield from tables
    if part == "test" and (tables or not subject.tables(part)):
        yield from _of_order(
            "row of the sample submission", subject.facts.sample, list(dict.fromkeys(subject.sample.index)), "rows"
        )


def _last_digits(file: str, name: str, texts: Series[str]) -> Iterator[Feature]:
    """Last digits of numbers and times, most of which differ."""
    import pandas as pd

    if texts.nunique() > _DISTINCT:
        numbers = pd.Series(numbers_of(texts), texts.index)
        whole = numbers if np.isfinite(numbers).all() else None
        yield Feature(file=file, name=f"last digit of {name}", origin="digit", values=texts.str[-1:], whole=whole)


def _of_order(name: str, file: str, keys: list[str], origin: Origin = "order") -> Iterator[Feature]:
    import pandas as pd

    yield Feature(file=file, name=name, origin=origin, values=pd.Series(np.arange(len(keys)) / len(keys), keys))


def _of_files(subject: Subject, part: Role, content: bool) -> Iterator[Feature]:
    kinds: dict[str, dict[str, Item]] = {}
    for key, items in subject.items(part).items():
        for item in items:
            kinds.setdefault(_kind(item, key), {}).setdefault(key, item)
    headers = _headers(subject, kinds) if content else {}
    for file, members in kinds.items():
        yield from _of_names(file, members)
        if content:
            yield from _of_sizes(file, members)
            yield from _of_headers(file, headers.get(file, {}))


def _kind(item: Item, key: str) -> str:
    """The folder or archive that holds items of one kind, however deep they are in it."""
    archive, mark, _ = item.name.rpartition("!")
    if mark:
        return archive
    path = PurePosixPath(item.name)
    return "/".join(path.parts[:3][: len(path.parts) - 1])


def _of_names(file: str, items: dict[str, Item]) -> Iterator[Feature]:
    import pandas as pd

    keys = list(items)
    names = {key: items[key].inner for key in keys}
    archived = "!" in next(iter(items.values())).name
    yield from _of_order("place by name", file, sorted(keys, key=names.__getitem__))
    place = "position in the archive" if archived else "inode"
    yield from _of_order(f"place by {place}", file, sorted(keys, key=lambda key: items[key].place))
    times = {key: items[key].time for key in keys}
    if None not in times.values() and len(set(times.values())) > 1:
        changed = pd.Series(times, dtype=float)
        yield Feature(file=file, name="time of the last change", origin="order", values=changed)
        second = changed.floordiv(1) % 10
        yield Feature(file=file, name="last digit of the second of the last change", origin="name", values=second)
    for name, values in (
        ("folder", {key: PurePosixPath(names[key]).parent.name for key in keys}),
        ("word in the name", {key: (_LETTERS.findall(PurePosixPath(names[key]).stem) or [""])[0] for key in keys}),
    ):
        if 1 < len(set(values.values())) <= len(keys) / 4:
            yield Feature(file=file, name=name, origin="name", values=pd.Series(values))
    last = {key: PurePosixPath(names[key]).stem[-1:] for key in keys}
    yield Feature(file=file, name="last character of the name", origin="name", values=pd.Series(last, dtype=object))
    lengths = {key: float(len(PurePosixPath(names[key]).name)) for key in keys}
    yield Feature(file=file, name="length of the name", origin="name", values=pd.Series(lengths))


def _of_sizes(file: str, items: dict[str, Item]) -> Iterator[Feature]:
    import pandas as pd

    sizes = pd.Series({key: float(item.size) for key, item in items.items()})
    yield Feature(file=file, name="size in bytes", origin="size", values=sizes)
    yield Feature(file=file, name="last digit of the size", origin="digit", values=sizes % 10, whole=sizes)
    if all(item.packed is not None for item in items.values()):
        packed = pd.Series({key: float(item.packed or 0) for key, item in items.items()})
        yield Feature(file=file, name="compression", origin="size", values=packed / sizes.clip(lower=1))


def _headers(subject: Subject, kinds: dict[str, dict[str, Item]]) -> dict[str, dict[str, Fields]]:
    """The metadata of some items of each kind."""
    wanted: dict[str, tuple[str, str]] = {}
    for file, items in kinds.items():
        for key in Keys(sorted(items), [], _ITEMS).chosen:
            wanted[items[key].name] = (file, key)
    found: dict[str, dict[str, Fields]] = {}
    for item, stream in subject.contents() if wanted else ():
        if item.name in wanted and (fields := _fields(item, stream)):
            file, key = wanted[item.name]
            found.setdefault(file, {})[key] = fields
    return found


def _fields(item: Item, stream: IO[bytes]) -> Fields:
    reader = reader_of(stream.read(HEAD))
    if reader is None or not stream.seekable():
        return {}
    stream.seek(0)
    try:
        return reader(stream, item.size)
    except Exception:  # the check of answers reports it
        return {}


def _of_headers(file: str, fields: dict[str, Fields]) -> Iterator[Feature]:
    import pandas as pd

    frame = table_of(fields, without="JSON")
    for name in frame.columns:
        column = frame[name]
        numbers = pd.Series(numbers_of(column), column.index)
        words = str(name).removeprefix("#")
        if column.nunique() < 2:
            continue
        yield from _last_digits(file, words, column)
        if numbers.notna().mean() > 0.9:
            yield Feature(file=file, name=words, origin="content", values=numbers.fillna(-1.0))
        elif column.nunique() <= len(column) / 4:
            yield Feature(file=file, name=words, origin="content", values=column)


def _of_tables(subject: Subject, part: Role) -> Iterator[Feature]:
    for table in subject.tables(part):
        frame = next(iter(table.batches()), None)
        if frame is None or not table.key or table.where == subject.facts.sample:
            continue
        keys = joined(frame, table.key)
        if keys.duplicated().any():
            continue
        groups = groups_of(frame.drop(columns=[*table.key, *table.labels]))
        if groups is not None:
            continue
        yield from _of_order("row of the table", table.where, list(keys), "rows")
        for column in frame.columns:
            if column not in table.key and is_of_file_names(frame[column]):
                yield from _of_order(f"order of {column!r}", table.where, list(keys.iloc[frame[column].argsort()]))
        numbers = _numbers_in(keys)
        if np.isfinite(numbers).all() and len(np.unique(numbers)) > 0.9 * len(numbers):
            yield from _of_order("order of the ids", table.where, list(keys.iloc[np.argsort(numbers, kind="stable")]))
            if part == "test":
                yield from _of_neighbours(subject, table.where, keys, numbers)
        yield from _of_order("alphabetical order of the ids", table.where, sorted(keys))
        rows = frame.set_axis(keys.to_numpy(), axis=0)
        last = keys.set_axis(keys.to_numpy()).str[-1:]
        yield Feature(file=table.where, name="last character of the ids", origin="name", values=last)
        for column in [name for name in frame.columns if name not in (*table.key, *table.labels)][:_COLUMNS]:
            if np.isfinite(numbers_of(frame[column].head(_DISTINCT))).all():
                yield from _last_digits(table.where, repr(column), rows[column])


def _of_neighbours(subject: Subject, file: str, keys: Series[str], numbers: NDArray[np.float64]) -> Iterator[Feature]:
    """The label of the training row whose id is nearest to a test row's, as where rows were numbered thing by thing."""
    import pandas as pd

    train, target = subject.train, subject.targets[0]
    if train is None or len(subject.targets) > 1:
        return
    order = np.argsort(known := _numbers_in(train.index.to_series()), kind="stable")
    known = known[order]
    if not np.isfinite(known).all() or len(np.unique(known)) <= 0.9 * len(known):
        return
    right = np.searchsorted(known, numbers).clip(1, max(1, len(known) - 1))
    nearer = np.where(numbers - known[right - 1] <= known[right] - numbers, right - 1, right)
    labels = train[target].to_numpy()[order[nearer]]
    values = numbers_of(labels)
    is_quantity = np.isfinite(values).all() and len(np.unique(values)) > _DISTINCT
    yield Feature(
        file=file,
        name=f"{target!r} of the training row with the nearest id",
        origin="neighbour",
        values=pd.Series(values if is_quantity else labels, keys),
        whole=pd.Series(numbers, keys),
    )


def _numbers_in(keys: Series[str]) -> NDArray[np.float64]:
    return numbers_of(keys.astype(str).str.replace(r"\D", "", regex=True).str[:15])


def groups_of(frame: DataFrame) -> str | None:
    """A column whose values each stand in one run of rows, such as the breath or the drive that rows belong to."""
    for column in frame.columns:
        values = frame[column]
        runs = int((values != values.shift()).sum())
        if runs == values.nunique() and 2 < runs <= len(values) / _GROUPS:
            return str(column)
    return None
