"""The records of a group's runs on disk, as its controller changes them."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal

from attrs import evolve

from mlecore.model.backends import Hardware
from mlecore.model.record import Replaced, RunRecord
from mlecore.runs import requests
from mlecore.runs.cancelled import REASON, add_cancelled
from mlecore.runs.folders import FINDINGS, RECORD
from mlecore.runs.journal import Journal, now
from mlecore.runs.lock import LockLost
from mlecore.runs.snapshots import HISTORY
from mlecore.runs.store import Group, grade_of, require_group, write_record
from mlecore.util import files
from mlecore.util.regular import read_regular
from mlecore.util.schema import LIMIT
from mlecore_jobs import spare

_RESULT = (
    *("submission", "logs", "code", "code_snapshots", "snapshots"),
    *(FINDINGS, HISTORY, "grade.json", "grade_error.json"),
)


class FolderGone(Exception):
    """A run's folder was deleted by hand while its group is still there."""


class RecordWriter:
    """Writes records as long as its controller holds the group. All methods block; for any thread."""

    def __init__(self, group: Group, journal: Journal) -> None:
        self.group = group
        self.journal = journal
        self.closed = False  # its controller no longer holds the group
        self._cancelling = threading.Lock()

    def write(self, record: RunRecord, **details: Any) -> RunRecord:
        """Make a state durable. Raises FolderGone, OSError."""
        self._require_open()
        try:
            record = spare.write(self.group.folder, partial(write_record, record))
        except FileNotFoundError:
            require_group(self.group)  # it may have gone just now
            if not record.folder.is_dir():
                raise FolderGone from None
            raise
        self.journal.note(record.state, record.name, **details)
        spare.keep(self.group.folder)
        return record

    def _require_open(self) -> None:
        if self.closed:
            raise LockLost("the controller has left")
        require_group(self.group)

    def close(self, record: RunRecord, state: Literal["cancelled", "failed"], reason: str) -> RunRecord:
        """Cancel or fail a run that is not at work."""
        files.make_folder(record.folder, below=self.group.folder)
        record = self.write(evolve(record, state=state, reason=reason))
        requests.remove(self.group.folder, record.name)
        return record

    def cancel_unbegun(self, names: Sequence[str]) -> None:
        """Cancel runs that have no record, in one write."""
        self._require_open()
        with self._cancelling:
            add_cancelled(self.group.folder, names)
        self.journal.note("cancelled", None, runs=len(names), why=REASON)
        for name in requests.pending(self.group.folder).keys() & set(names):
            requests.remove(self.group.folder, name)

    def plan_again(self, record: RunRecord) -> RunRecord:
        """From failed, cancelled or graded back to planned, because a retry was requested.

        The record is written before the result is set aside, so that the controller may die at any moment: the next
        attempt begins by setting it aside.
        """
        files.make_folder(record.folder, below=self.group.folder)
        fresh = without_result(record) if record.state == "graded" else record
        fresh = evolve(fresh, state="planned", ended=None, reason="", retry_from=len(record.attempts))
        replaced = fresh.forced[-1] if fresh.forced != record.forced else None
        record = self.write(fresh, **({"replaces": f"{replaced.status} {replaced.score}"} if replaced else {}))
        set_aside(record)
        requests.remove(self.group.folder, record.name)
        return record


def without_result(record: RunRecord) -> RunRecord:
    """The record as if the run had no result yet; a copy of the one before is kept, and ``forced`` names it."""
    assert record.attempt
    folder = _replaced(record, record.attempt.number)
    files.make_folder(folder, below=record.folder)
    files.replace(folder / RECORD, read_regular(record.folder / RECORD, LIMIT, below=record.folder.parent))
    status, score = result_of(record.folder)
    replaced = Replaced(
        attempt=record.attempt.number,
        at=now(),
        ended=record.ended,
        status=status,
        score=score,
        kept=folder.relative_to(record.folder).as_posix(),
    )
    return evolve(
        record,
        forced=(*record.forced, replaced),
        seconds=None,
        hardware=Hardware(),
        calls=None,
        usage=None,
        reported_usage=None,
        usage_difference="",
        relay_refused={},
        checks=0,
        gradings=0,
        collected=None,
    )


def set_aside(record: RunRecord) -> None:
    """Move what belongs to the result that was replaced last out of the way. Repeatable.

    What appears after that is from a detector that was still judging it.
    """
    if not record.forced:
        return
    folder = _replaced(record, record.forced[-1].attempt)
    for name in _RESULT:
        if (folder / name).exists():
            files.remove(record.folder / name)
        elif (record.folder / name).exists():
            files.rename(record.folder / name, folder / name)


def result_of(folder: Path) -> tuple[str, str]:
    """The status and the score in a run's grade.json, in words; empty where it has none."""
    grade = grade_of(folder) or {}
    status, score = grade.get("status"), grade.get("score_text") or grade.get("score")
    return str(status or ""), "" if score is None else str(score)


def _replaced(record: RunRecord, attempt: int) -> Path:
    """The folder of a result that another one has replaced."""
    return record.folder / "attempts" / str(attempt) / "replaced"
