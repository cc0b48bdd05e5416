"""Digests that tell whether a run was changed after it was written.

Each record names the digests (SHA-256) of its submission, its grade.json, the record before it and itself. They show
what was edited, replaced or torn; whoever makes all of them anew is not found out by them, but by grading again.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import evolve

from mlecore import files
from mlecore.errors import DataError
from mlecore.runs.record import Digests, RunRecord


def with_digests(record: RunRecord) -> RunRecord:
    """The record as it is to be written: those of its files as they lie there now, and its own."""
    last = record.digests or Digests()
    submission = grade = None
    if record.state in ("collected", "graded"):
        kept = last.submission if record.state == "graded" else None  # what was collected, not what lies there later
        submission = kept or _digest(record.submission, record.folder)
    if record.state == "graded":
        grade = _digest(record.folder / "grade.json", record.folder)
    return with_own_digest(
        evolve(record, digests=Digests(previous=last.record or None, submission=submission, grade=grade))
    )


def with_own_digest(record: RunRecord) -> RunRecord:
    """The record with the digest of what it says now."""
    own = _own(record.to_json())
    return evolve(record, digests=evolve(record.digests or Digests(), record=own), altered=False)


def is_altered(values: Mapping[str, Any]) -> bool:
    """Does a run.json say something else than its own digest was made of? False if it has none."""
    digests = values.get("digests")
    return isinstance(digests, Mapping) and digests.get("record") != _own(values)


def problems(record: RunRecord, *, submission: bool = True) -> list[str]:
    """What was changed in a run after it was written, in words; without ``submission``, what is quick to find."""
    found = ["run.json was changed after it was written"] if record.altered else []
    digests = record.digests or Digests()
    if digests.grade and digests.grade != _digest(record.folder / "grade.json", record.folder):
        found.append("grade.json is not the one that was published")
    if submission and digests.submission:
        path = record.folder / "submission" / "submission.csv"
        if digests.submission != _digest(path, record.folder):
            found.append("submission/submission.csv is not the one that was collected")
    return found


def _own(values: Mapping[str, Any]) -> str:
    values = {**values, "digests": {**(values.get("digests") or {}), "record": ""}}
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()


def _digest(path: Path | None, folder: Path) -> str | None:
    """Of a regular file; None if there is none."""
    if path is None:
        return None
    try:
        descriptor = files.open_regular(path, below=folder.parent)
        with os.fdopen(descriptor, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except (OSError, DataError):
        return None
