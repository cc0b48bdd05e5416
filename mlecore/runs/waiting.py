"""The reasons why runs of a group wait: one file in its folder, written by its controller."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from attrs import evolve

from mlecore.errors import DataError
from mlecore.model.record import RunRecord
from mlecore.runs.lock import holder
from mlecore.util import files
from mlecore.util.schema import read_json

FILE = "waiting.json"

Reasons = Mapping[tuple[str, str], str]
"""Label and competition -> reason; it is the same for all seeds."""

AT_WORK = ("", "")
"""Key for the reason why the state of running jobs is unknown: the backend does not answer."""


def write_reasons(folder: Path, reasons: Reasons) -> None:
    """Replace the file, or remove it if nothing waits. Raises OSError."""
    if not reasons:
        (folder / FILE).unlink(missing_ok=True)
        return
    rows = [[label, competition, why] for (label, competition), why in sorted(reasons.items())]
    files.replace(folder / FILE, (json.dumps(rows, indent=1) + "\n").encode())


def read_reasons(folder: Path) -> Reasons:
    """The reasons; empty if the file is missing or damaged (it only informs), or its controller is gone."""
    try:
        rows = read_json(folder / FILE, below=folder)
    except (OSError, DataError):
        return {}
    if not holder(folder):
        return {}
    return {
        (row[0], row[1]): row[2]
        for row in (rows if isinstance(rows, list) else [])
        if isinstance(row, list) and len(row) == 3 and all(isinstance(each, str) for each in row)
    }


def with_reason(record: RunRecord, reasons: Reasons) -> RunRecord:
    """The record with the reason that only the controller knows: why a run waits, or that the backend is silent."""
    if record.settled or not reasons:
        return record
    known = (record.label, record.competition) if record.state in ("planned", "starting") else AT_WORK
    return evolve(record, reason=record.reason or reasons.get(known, ""))
