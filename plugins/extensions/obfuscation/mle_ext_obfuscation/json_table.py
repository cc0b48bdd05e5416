"""A table of JSON objects, in a list or one per line, edited as text: numbers and texts stay as written."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mlecore.errors import DataError

if TYPE_CHECKING:
    import polars as pl

_DECODER = json.JSONDecoder(parse_float=str, parse_int=str, parse_constant=str)
_BETWEEN = re.compile(r"[\s,:]*")
_LONGEST = 200  # characters of an id or a category; longer ones are texts
_MOST_NAMES = 10_000


class JsonTable:
    """Its fields are columns. Lines are read when they are needed; a list is kept in memory."""

    def __init__(self, path: Path) -> None:
        """Raises DataError for anything but objects in a list or one per line, and for objects with data as keys."""
        self._path = path
        self._fields: dict[str, list[str]] = {}
        self._texts: set[str] = set()
        self._names: dict[str, None] = {}
        try:
            self._listed = _list(path)
            self._offsets = [] if self._listed is not None else _offsets(path)
            for row, record in enumerate(self._records(range(self.height))):
                self._gather(row, _DECODER.decode(record))
        except (OSError, ValueError, RecursionError) as error:
            raise DataError(f"{path} cannot be read as JSON records: {error}") from None
        for cells in self._fields.values():
            cells += [""] * (self.height - len(cells))

    @property
    def names(self) -> list[str]:
        """The fields, and those of nested objects, all of which are renamed."""
        return list(self._names)

    @property
    def height(self) -> int:
        return len(self._offsets if self._listed is None else self._listed)

    def cells(self, name: str) -> pl.Series | None:
        """A field's scalars as text; None if there is no such field, or it holds more than short scalars."""
        import polars as pl

        return None if name in self._texts or name not in self._fields else pl.Series(name, self._fields[name])

    def is_text(self, name: str) -> bool:
        """Does a field hold texts, lists or objects?"""
        return name in self._texts

    def write(
        self, path: Path, columns: Mapping[str, str], values: Mapping[str, Mapping[str, str]], order: Any
    ) -> None:
        """Write the records under new names, sorted by these. ``order``: their numbers; None: as they are."""

        def renamed(value: str, name: str = "") -> str:
            if value.startswith("{"):
                parts = list(_parts(value))
                old = [json.loads(part) for part in parts[::2]]
                fields = [(columns[name], renamed(inner, name)) for name, inner in zip(old, parts[1::2], strict=True)]
                return "{" + ", ".join(f"{json.dumps(name)}: {inner}" for name, inner in sorted(fields)) + "}"
            if value.startswith("["):
                return "[" + ", ".join(map(renamed, _parts(value))) + "]" if "{" in value else value
            known = values.get(name, {})
            plain = json.loads(value) if value.startswith('"') else value
            return json.dumps(known[plain]) if plain in known else value

        rows = range(self.height) if order is None else order
        start, between, end = ("", "\n", "\n") if self._listed is None else ("[\n", ",\n", "\n]\n")
        with path.open("x", encoding="utf-8", newline="") as file:
            file.write(start)
            for number, record in enumerate(self._records(rows)):
                try:
                    file.write((between if number else "") + renamed(record))
                except RecursionError:
                    raise DataError(f"{self._path}: record {rows[number] + 1} is nested too deeply") from None
            file.write(end)

    def _records(self, rows: Any) -> Iterator[str]:
        if self._listed is not None:
            yield from (self._listed[row] for row in rows)
            return
        with self._path.open("rb") as file:
            for row in rows:
                file.seek(self._offsets[row])
                yield file.readline().strip().decode()

    def _gather(self, row: int, record: Any) -> None:
        if not isinstance(record, dict):
            raise ValueError(f"record {row + 1} is not an object")
        self._name(record)
        for name, value in record.items():
            if isinstance(value, (dict, list)) or (isinstance(value, str) and len(value) > _LONGEST):
                self._texts.add(name)
                self._fields.pop(name, None)
            if name in self._texts:
                continue
            cells = self._fields.setdefault(name, [])
            cells += [""] * (row - len(cells))
            cells.append("" if value is None else str(value))

    def _name(self, value: Any) -> None:
        if isinstance(value, dict):
            self._names.update(dict.fromkeys(value))
            if len(self._names) > _MOST_NAMES:
                raise ValueError(f"it has more than {_MOST_NAMES:,} names: they are data")
        for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            if isinstance(inner, (dict, list)):
                self._name(inner)


def _list(path: Path) -> list[str] | None:
    """The texts of a list's elements; None if the file begins otherwise. Raises ValueError."""
    with path.open("rb") as file:
        if not file.read(64).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"["):
            return None
    text = path.read_text(encoding="utf-8-sig")
    return list(_parts(text, text.index("[")))


def _parts(text: str, start: int = 0) -> Iterator[str]:
    """The elements of a list, or alternately keys and values of an object, as written. Raises ValueError."""
    at = _BETWEEN.match(text, start + 1).end()  # type: ignore[union-attr]  # it always matches
    while text[at : at + 1] not in ("]", "}", ""):
        end = _DECODER.raw_decode(text, at)[1]
        yield text[at:end]
        at = _BETWEEN.match(text, end).end()  # type: ignore[union-attr]


def _offsets(path: Path) -> list[int]:
    """Where each line that is not blank begins."""
    found, at = [], 0
    with path.open("rb") as file:
        for line in file:
            if line.strip():
                found.append(at)
            at += len(line)
    return found
