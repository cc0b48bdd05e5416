"""A table that an extension leaves in a group's folder, `appendix-NAME.json`, for its report to show."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from attrs import field, frozen

from mlecore import files
from mlecore.errors import DataError, UsageError
from mlecore.schema import SchemaError, parse_json, plain, structure

_LIMIT = 8 << 20  # bytes
_NAME = re.compile(r"[a-z][a-z0-9-]{0,39}")


@frozen(kw_only=True)
class Dot:
    """One point of the appendix's chart."""

    x: float
    y: float
    name: str


@frozen(kw_only=True)
class Appendix:
    """Text and numbers only; ``dots`` are drawn where charts are, the table and the notes everywhere."""

    name: str  # of its section
    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()
    x: str = ""  # what the axes of the chart are
    y: str = ""
    dots: tuple[Dot, ...] = field(default=())

    def write(self, group: Path) -> Path:
        """Into a group's folder, in place of the last one of its name. Raises UsageError if there is no such group."""
        from mlecore.runs.store import is_group

        if not is_group(group):
            raise UsageError(f"{group} is not a group's folder", fix="`mlecore runs list` shows the groups.")
        path = group / f"appendix-{self.name}.json"
        files.replace(path, (json.dumps(plain(self), ensure_ascii=False, indent=1) + "\n").encode())
        return path


def read_appendices(groups: Sequence[str], runs: Path) -> tuple[Appendix, ...]:
    """Those of the groups, in order. Raises DataError for one that cannot be read."""
    return tuple(found for group in groups for found in _of(runs / group if (runs / group).is_dir() else Path(group)))


def _of(group: Path) -> Iterator[Appendix]:
    for path in sorted(group.glob("appendix-*.json")) if group.is_dir() else ():
        try:
            found = structure(Appendix, parse_json(files.read_regular(path, _LIMIT)))
        except (SchemaError, OSError) as error:
            raise DataError(f"{path} cannot be read: {error}", fix="Remove it.") from None
        if not _NAME.fullmatch(found.name) or any(len(row) != len(found.header) for row in found.rows):
            raise DataError(f"{path} has an invalid name, or rows of different lengths", fix="Remove it.")
        yield found
