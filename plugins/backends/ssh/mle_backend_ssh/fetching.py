"""Fetch a job's files from a host: what breaks off is asked for again, except for the files that have come."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from attrs import evolve

from mle_backend_ssh.link import Channel
from mlecore.errors import BackendError
from mlecore.model.backends import Handle
from mlecore_jobs.fetching import OUTSIDE_LOGS, Fetched, Receiver

if TYPE_CHECKING:
    from mle_backend_ssh.host import Host


def fetch(
    host: Host,
    persistently: Callable[[Callable[[], Fetched], Callable[[], object]], Fetched],
    handle: Handle,
    globs: Sequence[str],
    into: Path,
    max_bytes: int,
    max_files: int,
) -> Fetched:
    """See ``Backend.fetch``."""
    receiver = Receiver(into, max_bytes, max_files)
    have: dict[str, int] = {}  # path -> bytes of the files that have come

    def transfer() -> Fetched:
        with host.open("fetch", handle, tuple(globs), max_bytes, max_files, have) as channel:
            head, _ = host.read(channel, ("file",))
            while "result" not in head:
                _store(host, receiver, head, channel, have)
                head, _ = host.read(channel, ("file",))
            return head["result"]  # type: ignore[no-any-return]

    there = persistently(transfer, lambda: (len(have), receiver.bytes))
    here = receiver.fetched()
    complete = there.complete and here.complete
    return evolve(here, refused=tuple(dict.fromkeys((*there.refused, *here.refused))), complete=complete)


def _store(host: Host, receiver: Receiver, head: Mapping[str, Any], channel: Channel, have: dict[str, int]) -> None:
    """Store one file of an answer. If it breaks off, the next request stores it."""
    path = PurePosixPath(os.fsdecode(bytes.fromhex(head["path"])))
    if path.is_absolute() or ".." in path.parts or not path.parts:
        raise BackendError(f"{host.name} sent a file by the name of {str(path)!r}")
    content = _Content(host, channel)
    take = receiver.take_anyhow if path in OUTSIDE_LOGS else receiver.take
    try:
        take(path, int(head["length"]), content)  # type: ignore[arg-type]
    except _Torn:
        receiver.refuse(path, "cannot be read")
    except BaseException:
        receiver.forget(path)
        raise
    content.skip()
    have[str(path)] = int(head["length"])


class _Torn(Exception):
    """A file that could not be read to its end on the host."""


class _Content:
    """The content of one file, read from the lines of an answer."""

    def __init__(self, host: Host, channel: Channel) -> None:
        self._host = host
        self._channel = channel
        self._rest = b""
        self._over = False

    def read(self, size: int) -> bytes:
        if not self._rest and not self._over:
            head, self._rest = self._host.read(self._channel, ("content", "end", "torn"))
            self._over = head.get("kind") != "content"
            if head.get("kind") == "torn":
                raise _Torn
        part, self._rest = self._rest[:size], self._rest[size:]
        return part

    def skip(self) -> None:
        """Read the rest of a file that was not stored."""
        with contextlib.suppress(_Torn):
            while not self._over:
                self._rest = b""
                self.read(1)
