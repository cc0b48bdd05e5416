"""Model calls of active runs: copies of what their gateways have written so far, fetched again after a while."""

from __future__ import annotations

import contextlib
import tempfile
import threading
import time
from collections import OrderedDict
from collections.abc import Iterable
from pathlib import Path

from mlecore.errors import MlecoreError
from mlecore.model.calls import ModelCalls
from mlecore.model.record import RunRecord
from mlecore.plugins.opening import open_backend
from mlecore.runs.measured import measure
from mlecore.runs.secrets import search
from mlecore_jobs.fetching import GATEWAY_LOG, TRANSCRIPTS

_COPIES = 64  # active runs whose calls are kept, those that were looked at last
_INTERVAL = 5.0  # seconds between two copies of a run's calls
_REST = 20  # times as long as a copy took: a page that is open takes a twentieth of a connection
_PATIENCE = 1.0  # seconds in which one look begins copies
_MOST = 256 << 20  # bytes of a gateway's log and transcripts


class _Copy:
    """A copy of one job's log and transcripts, with secrets masked as in collected files."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.due = 0.0
        self.calls: ModelCalls | None = None
        self._folders: list[tempfile.TemporaryDirectory[str]] = []  # the last two: somebody may read the older one

    @property
    def folder(self) -> Path | None:
        """With logs/ below it, as in a run's folder; None before the first copy."""
        return Path(self._folders[-1].name, "copy") if self._folders else None

    def renew(self, record: RunRecord) -> None:
        began = time.monotonic()
        with contextlib.suppress(MlecoreError, OSError):  # no answer: what the backend gave last time stays
            self._fetch(record)
        now = time.monotonic()
        self.due = now + max(_INTERVAL, _REST * (now - began))

    def _fetch(self, record: RunRecord) -> None:
        """Raises MlecoreError, OSError."""
        assert record.attempt and record.attempt.handle
        new = tempfile.TemporaryDirectory(prefix="mlecore-view-")
        folder = Path(new.name, "copy")
        backend = open_backend(record.backend.name, record.backend.options).backend
        backend.fetch(record.attempt.handle, [str(GATEWAY_LOG), str(TRANSCRIPTS)], folder, _MOST, 2)
        secrets, _ = search(record.folder, record.secrets)
        for name in (GATEWAY_LOG, TRANSCRIPTS):
            if (folder / name).is_file():
                secrets.mask(folder / name)
        self.calls = measure(folder / GATEWAY_LOG)
        for old in self._folders[:-1]:
            old.cleanup()
        self._folders = [*self._folders[-1:], new]


class LiveCalls:
    """The model calls of all active runs."""

    def __init__(self) -> None:
        self.version = 0  # another one when any run's calls have changed
        self._copies: OrderedDict[str, _Copy] = OrderedDict()
        self._lock = threading.Lock()

    def look(self, record: RunRecord) -> ModelCalls | None:
        """So far, and a few seconds old at most where its backend is quick; None without a gateway."""
        copy = self._copy(record)
        if copy is None:
            return None
        with copy.lock:
            if time.monotonic() >= copy.due:
                before = copy.calls
                copy.renew(record)
                self.version += copy.calls != before
            return copy.calls

    def look_at(self, records: Iterable[RunRecord]) -> int:
        """As many as can be reached in a second, and the version that this makes."""
        until = time.monotonic() + _PATIENCE
        for record in records:
            if time.monotonic() > until:
                break
            self.look(record)
        return self.version

    def known(self, record: RunRecord) -> ModelCalls | None:
        """What the last look saw; asks no backend."""
        copy = self._copies.get(record.attempt.job) if record.state == "running" and record.attempt else None
        return copy.calls if copy else None

    def folder(self, record: RunRecord) -> Path:
        """Where the run's gateway log and transcripts are, in logs/: for an active run, the copy."""
        self.look(record)
        copy = self._copy(record)
        return copy.folder or record.folder if copy else record.folder

    def _copy(self, record: RunRecord) -> _Copy | None:
        attempt = record.attempt
        if record.state != "running" or record.access is None or attempt is None:
            return None
        if attempt.handle is None or not record.own_jobs:
            return None
        with self._lock:
            copy = self._copies.pop(attempt.job, None) or _Copy()
            self._copies[attempt.job] = copy
            while len(self._copies) > _COPIES:
                self._copies.popitem(last=False)
            return copy
