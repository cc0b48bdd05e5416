"""cancelled.json: the runs of a group that were cancelled before they began.

Such runs have no folder, so one file of the group names them all. Only the controller writes it, replacing it whole. A
run that is retried gets a record, which takes precedence.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from attrs import field, frozen

from mlecore.errors import DataError
from mlecore.util import files
from mlecore.util.schema import NOT_IN_FILE, SchemaError, plain, read_newer

CANCELLED = "cancelled.json"
REASON = "cancelled before it began"


@frozen(kw_only=True)
class Cancelled:
    """The runs of a group that were cancelled before they began. A run.json takes precedence."""

    format: int = 1  # of this file
    runs: tuple[str, ...] = ()  # their names
    extra: Mapping[str, Any] = field(factory=dict, metadata=NOT_IN_FILE)  # what a newer version wrote; kept


def read_cancelled(group: Path) -> frozenset[str]:
    """Names of runs. Raises DataError for a damaged file, OSError."""
    return frozenset(_read(group).runs)


def add_cancelled(group: Path, names: Iterable[str]) -> None:
    """Add runs, durably. The caller holds the group's lock. Raises DataError, OSError."""
    there = _read(group)
    content = plain(there) | {"runs": sorted({*there.runs, *names})}
    files.replace(group / CANCELLED, (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode())


def _read(group: Path) -> Cancelled:
    try:
        return read_newer(Cancelled, group / CANCELLED, below=group)
    except FileNotFoundError:
        return Cancelled()
    except SchemaError as error:
        raise DataError(error.message, fix="Fix it; or remove it, and the runs in it are planned again.") from None
