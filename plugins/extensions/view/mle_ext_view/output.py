"""The output of a run: its file, or of an active run a copy that grows with each look.

A backend gives its jobs' output from a byte on, so that each look fetches what is new.
"""

from __future__ import annotations

import tempfile
import threading
from collections import OrderedDict
from typing import BinaryIO

from mlecore.controller.output import saved
from mlecore.errors import MlecoreError
from mlecore.model.record import RunRecord
from mlecore.plugins.opening import open_backend
from mlecore.runs.secrets import search

from .places import Missing, open_file

_COPIES = 16  # active runs whose output is kept, those that were looked at last
_LONGEST = 64 << 10  # bytes without an end of line that are held back


class _Copy:
    """A copy of one job's output, with secrets masked as in collected files."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self._file = tempfile.NamedTemporaryFile(prefix="mlecore-view-")  # noqa: SIM115 - lives as long as this
        self._read = 0
        self._held = b""  # the last line, which may be a part of a secret

    def grow(self, record: RunRecord) -> None:
        """Raises MlecoreError, OSError."""
        assert record.attempt and record.attempt.handle
        backend = open_backend(record.backend.name, record.backend.options).backend
        secrets, _ = search(record.folder, record.secrets)
        for chunk in backend.logs(record.attempt.handle, self._read):
            self._read += len(chunk)
            text = self._held + chunk
            end = max(text.rfind(b"\n"), text.rfind(b"\r")) + 1
            end = len(text) if len(text) - end > _LONGEST else end
            self._held = text[end:]
            self._file.writelines(secrets.masked([text[:end]]))
        self._file.flush()

    def open(self) -> BinaryIO:
        from pathlib import Path

        return Path(self._file.name).open("rb")


class Outputs:
    """The output of all runs."""

    def __init__(self) -> None:
        self._copies: OrderedDict[str, _Copy] = OrderedDict()
        self._lock = threading.Lock()

    def open(self, record: RunRecord) -> tuple[BinaryIO, str]:
        """The output so far, and why there may be more than could be fetched. Raises Missing."""
        attempt = record.attempt
        if record.state != "running" or attempt is None or attempt.handle is None or not record.own_jobs:
            path = saved(record)
            if path is None:
                raise Missing(f"{record.name} is {record.state}: there is no output yet")
            return open_file(path, record.folder.parent), ""
        with self._lock:
            copy = self._copies.setdefault(attempt.handle.name, _Copy())
            self._copies.move_to_end(attempt.handle.name)
            while len(self._copies) > _COPIES:
                self._copies.popitem(last=False)
        why = ""
        with copy.lock:
            try:
                copy.grow(record)
            except (MlecoreError, OSError) as error:
                why = str(error).splitlines()[0]
        return copy.open(), why
