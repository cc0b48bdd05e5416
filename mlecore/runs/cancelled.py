"""cancelled.json: the runs of a group that were cancelled before they began.

They have no folder, so that one file of the group names all of them. It is replaced whole, by the controller alone. A
run's record, if it has one, takes precedence: a run that is retried gets one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from attrs import field, frozen

from mlecore import files
from mlecore.errors import DataError
from mlecore.schema import NOT_IN_FILE, SchemaError, plain, read_newer

CANCELLED = "cancelled.json"
REASON = "cancelled before it began"


@frozen(kw_only=True)
class Cancelled:
    """The runs of a group that were cancelled before they began. If a run has a run.json, its state is there."""

    format: int = 1  # of this file
    runs: tuple[str, ...] = ()  # their names
    extra: Mapping[str, Any] = field(factory=dict, metadata=NOT_IN_FILE)  # what a newer version wrote; kept


def read_cancelled(group: Path) -> frozenset[str]:
    """Names of runs. Raises DataError for a damaged file, OSError."""
    return frozenset(_read(group).runs)


def add_cancelled(group: Path, names: Iterable[str]) -> None:
    """Name more of them, durably. The caller holds the group's lock. Raises DataError, OSError."""
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
