"""JSON files with the published bytes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from mlecore.errors import DataError
from mlecore.prepare.tables import new_file


def read_json(path: Path, encoding: str = "utf-8") -> Any:
    """The value of a JSON file; DataError where it is missing or no JSON."""
    try:
        return json.loads(path.read_text(encoding=encoding))
    except FileNotFoundError:
        raise DataError(f"{path} is missing") from None
    except ValueError as error:
        raise DataError(f"{path} cannot be read as JSON: {error}") from None


def write_json(value: Any, path: Path, *, indent: int | None = None, sort_keys: bool = False) -> None:
    """The bytes of ``json.dump(value, file, indent=..., sort_keys=...)``: ASCII, no line end after it; a new file."""
    encoder = json.JSONEncoder(indent=indent, sort_keys=sort_keys)
    with new_file(path) as stream:
        for piece in encoder.iterencode(value):
            stream.write(piece.encode("ascii"))
