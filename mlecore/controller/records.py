"""The records of a group's runs on disk, as its controller changes them."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import partial
from typing import Any, Literal

from attrs import evolve

from mlecore.controller.replacing import set_aside, without_result
from mlecore.model.record import RunRecord
from mlecore.runs import requests
from mlecore.runs.cancelled import REASON, add_cancelled
from mlecore.runs.journal import Journal
from mlecore.runs.lock import LockLost
from mlecore.runs.store import Group, require_group, write_record
from mlecore.util import files
from mlecore_jobs import spare


class FolderGone(Exception):
    """A run's folder was deleted by hand while its group is still there."""


class Records:
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
        """From failed, cancelled or graded back to planned, because a retry was requested."""
        files.make_folder(record.folder, below=self.group.folder)
        fresh = without_result(record) if record.state == "graded" else record
        fresh = evolve(fresh, state="planned", ended=None, reason="", retry_from=len(record.attempts))
        replaced = fresh.forced[-1] if fresh.forced != record.forced else None
        record = self.write(fresh, **({"replaces": f"{replaced.status} {replaced.score}"} if replaced else {}))
        set_aside(record)
        requests.remove(self.group.folder, record.name)
        return record
