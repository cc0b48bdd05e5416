"""A table that an extension leaves in a group's folder, `appendix-NAME.json`, for its report to show."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from attrs import evolve, field, frozen

from mlecore.errors import DataError, UsageError
from mlecore.util import files
from mlecore.util.regular import read_regular
from mlecore.util.schema import SchemaError, parse_json, plain, structure

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
    """Text and numbers only. ``dots`` are drawn on pages; the table and the notes appear in every format."""

    name: str  # of its section
    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()
    x: str = ""  # what the axes of the chart are
    y: str = ""
    dots: tuple[Dot, ...] = field(default=())

    def write(self, group: Path) -> Path:
        """Write it to a group's folder, replacing an earlier one of its name. Raises UsageError if that is no group."""
        from mlecore.runs.folders import is_group

        if not is_group(group):
            raise UsageError(f"{group} is not a group's folder", fix="`mlecore runs list` shows the groups.")
        path = group / f"appendix-{self.name}.json"
        files.replace(path, (json.dumps(plain(self), ensure_ascii=False, indent=1) + "\n").encode())
        return path


def read_appendices(groups: Sequence[str], runs: Path) -> tuple[tuple[Appendix, ...], tuple[str, ...]]:
    """The appendices of the groups, in order, and a sentence for each that cannot be read."""
    found: list[tuple[str, Appendix]] = []
    problems = []
    for group in groups:
        folder = runs / group if (runs / group).is_dir() else Path(group)
        for path in sorted(folder.glob("appendix-*.json")) if folder.is_dir() else ():
            try:
                found.append((folder.name, _read(path)))
            except (DataError, OSError) as error:
                problems.append(f"{path.name} of {folder.name} is left out, as it cannot be read: {error}")
    several = Counter(each.name for _, each in found)
    return tuple(
        evolve(each, title=f"{each.title} ({group})") if several[each.name] > 1 else each for group, each in found
    ), tuple(problems)


def _read(path: Path) -> Appendix:
    found = structure(Appendix, parse_json(read_regular(path, _LIMIT)))
    if not _NAME.fullmatch(found.name):
        raise SchemaError(f"its name {found.name!r} must consist of lower-case letters, digits and dashes")
    if any(len(row) != len(found.header) for row in found.rows):
        raise SchemaError("a row and the header have different numbers of cells")
    return found
