"""The output of a run's process: from its folder once it is collected, before that from its backend."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from mlecore.errors import BackendUnreachable, DataError, UsageError
from mlecore.model.backends import Backend
from mlecore.model.record import RunRecord
from mlecore.plugins.opening import open_backend
from mlecore.runs.secrets import search
from mlecore.runs.store import recover_record
from mlecore.util.regular import open_regular

_CHUNK = 1 << 20


def output(record: RunRecord, follow: bool) -> Iterator[bytes]:
    """Chunks of the output, the run's secrets masked; with ``follow`` until the process ends, waiting for it to begin.

    Raises UsageError.
    """
    while record.state in ("planned", "starting", "waiting"):
        if not follow:
            raise UsageError(f"{record.name} is {record.state}: it has printed nothing yet")
        time.sleep(1.0)
        with suppress(FileNotFoundError):
            record = recover_record(record.folder)[0]
    attempt = record.attempt
    if record.state == "running" and attempt and attempt.handle:
        if not record.own_jobs:
            raise DataError(f"{record.name}: its record names a job that is not this run's; was it edited?")
        opened = open_backend(record.backend.name, record.backend.options)
        secrets, _ = search(record.folder, record.secrets)
        yield from secrets.masked(_from_backend(opened.backend, record, follow))
        return
    path = saved(record)
    if path is None:
        raise UsageError(f"{record.name} is {record.state} and left no output")
    with os.fdopen(open_regular(path, below=record.folder.parent), "rb") as file:
        while chunk := file.read(_CHUNK):
            yield chunk


def saved(record: RunRecord) -> Path | None:
    """The collected output; that of the last attempt that has any."""
    attempts = [
        record.folder / "attempts" / str(attempt.number) / "output.log" for attempt in reversed(record.attempts)
    ]
    paths = [record.folder / "logs" / "output.log", *attempts]
    return next((path for path in paths if _is_regular(path, record.folder.parent)), None)


def _is_regular(path: Path, below: Path) -> bool:
    try:
        os.close(open_regular(path, below=below))
    except (OSError, DataError):
        return False
    return True


def _from_backend(backend: Backend, record: RunRecord, follow: bool) -> Iterator[bytes]:
    """From the job itself; continued if the backend did not answer for a while."""
    assert record.attempt and record.attempt.handle
    offset = 0
    while True:
        try:
            for chunk in backend.logs(record.attempt.handle, offset, follow):
                offset += len(chunk)
                yield chunk
            return
        except BackendUnreachable:
            if not follow:
                raise
            time.sleep(5.0)
