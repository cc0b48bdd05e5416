"""Reads JSON files, and writes them with the published bytes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from mlecore.errors import DataError
from mlecore_toolkit.prepare.tables import new_file

_BLOCK = 1 << 20  # characters
_MARK = re.compile(r"\s*(\[\s*\]|[\[,\]])")
_SPACE = re.compile(r"\s*")


def read_json(path: Path, encoding: str = "utf-8", errors: Literal["strict", "replace"] = "strict") -> Any:
    """The value of a JSON file. ``errors``: as for ``bytes.decode``. Raises DataError if it is missing or not JSON."""
    try:
        return json.loads(path.read_text(encoding=encoding, errors=errors))
    except FileNotFoundError:
        raise DataError(f"{path} is missing") from None
    except ValueError as error:
        raise DataError(f"{path} cannot be read as JSON: {error}") from None


def read_json_objects(path: Path) -> Iterator[Any]:
    """The items of a JSON file with a list of objects, one at a time, so that the file may be larger than memory.

    Raises DataError if it is missing or no such list, perhaps only after some objects.
    """
    decoder = json.JSONDecoder()
    try:
        with path.open(encoding="utf-8") as file:
            text, at = file.read(_BLOCK), 0
            mark = _MARK.match(text)
            while mark and mark[1] in ("[", ","):
                at = mark.end()
                while True:
                    try:
                        value, at = decoder.raw_decode(text, _SPACE.match(text, at).end())  # type: ignore[union-attr]
                        break
                    except json.JSONDecodeError:
                        if not (block := file.read(_BLOCK)):
                            raise
                        text, at = text[at:] + block, 0
                yield value
                while not (mark := _MARK.match(text, at)) and (block := file.read(_BLOCK)):
                    text, at = text[at:] + block, 0
            if not mark or not mark[1].endswith("]") or (text[mark.end() :] + file.read(_BLOCK)).strip():
                raise ValueError("it is not a list of objects")
    except FileNotFoundError:
        raise DataError(f"{path} is missing") from None
    except ValueError as error:
        raise DataError(f"{path} cannot be read as JSON: {error}") from None


def write_json(value: Any, path: Path, *, indent: int | None = None, sort_keys: bool = False) -> None:
    """Write a new file as ``json.dump(value, file, indent=..., sort_keys=...)`` does: ASCII, no final line end."""
    pieces = json.JSONEncoder(indent=indent, sort_keys=sort_keys).iterencode(value)
    with new_file(path) as stream:
        while text := "".join(islice(pieces, 10_000)):
            stream.write(text.encode("ascii"))


def write_json_objects(values: Iterable[Any], path: Path) -> None:
    """Write the bytes of ``write_json(list(values), path)``, with one value at a time in memory."""
    encoder = json.JSONEncoder()
    with new_file(path) as stream:
        between = b"["
        for value in values:
            stream.write(between + encoder.encode(value).encode("ascii"))
            between = b", "
        stream.write(b"[]" if between == b"[" else b"]")
