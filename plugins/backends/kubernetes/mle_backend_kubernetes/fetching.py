"""Fetching a run's files as a stream: resumed where the connection broke, and never beyond the limits."""

from __future__ import annotations

import io
import json
import struct
import time
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import IO, Any, cast

from mle_backend_kubernetes import gateway
from mle_backend_kubernetes.exec import Broken
from mle_backend_kubernetes.reader import NotBegun, Reader, exactly
from mlecore.backends import Fetched, Handle
from mlecore.errors import BackendUnreachable
from mlecore.fetching import Receiver
from mlecore.globs import Glob

TRIES = 5  # times in a row that a connection may break without a byte having come
STEP = 1 << 16  # bytes that a broken connection loses at most
_LINE = 1 << 20  # bytes of a message; a path has at most 4,096


def fetch(reader: Reader, handle: Handle, globs: Sequence[str], into: Path, max_bytes: int, max_files: int) -> Fetched:
    """See Backend.fetch."""
    wanted = [Glob(text) for text in globs]
    receiver = Receiver(into, max_bytes, max_files)
    gateway.fetch_logs(reader, handle, wanted, receiver)
    transfer = Transfer(reader, handle, wanted, receiver)
    try:
        _receive(transfer, receiver)
    except NotBegun:
        pass
    finally:
        transfer.close()
    return receiver.fetched()


def _receive(transfer: Transfer, receiver: Receiver) -> None:
    for message in transfer:
        path = PurePosixPath(message["path"])
        if path.is_absolute() or ".." in path.parts:
            receiver.refuse(message["path"], "a name that leads elsewhere")
        elif "refused" in message:
            receiver.refuse(path, message["refused"])
        elif "cut" in message:
            receiver.cut(path, message["cut"])
        else:
            receiver.take(path, int(message["size"]), cast(IO[bytes], transfer))
        if receiver.full:
            return


class Transfer:
    """Messages about files, and as a file the content of the one that the last message was about."""

    def __init__(self, reader: Reader, handle: Handle, globs: Sequence[Glob], receiver: Receiver) -> None:
        self._reader = reader
        self._handle = handle
        self._globs = [glob.text for glob in globs]
        self._receiver = receiver
        self._done: list[str] = []
        self._current: dict[str, Any] | None = None  # the file whose content is coming
        self._offset = 0  # in it
        self._left = 0  # of the piece that is coming
        self._failures = 0
        self._connection: Connection | None = None

    def __iter__(self) -> Iterator[dict[str, Any]]:
        while True:
            self._drain()
            message = self._retrying(self._message)
            if message.get("end"):
                return
            if "path" not in message:
                continue
            self._done.append(message["path"])
            if message.get("content"):
                self._current, self._offset, self._left = message, 0, 0
            yield message

    def read(self, count: int) -> bytes:
        """The next bytes of the current file; none at its end."""
        if self._current is None:
            return b""
        content: bytes = self._retrying(lambda: self._piece(count))
        return content

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _message(self) -> dict[str, Any]:
        return self._connected().message()

    def _piece(self, count: int) -> bytes:
        connection = self._connected()
        if not self._left:
            self._left = connection.length()
            if not self._left:
                self._current = None
                return b""
        content = connection.bytes(min(count, self._left, STEP))
        self._left -= len(content)
        self._offset += len(content)
        return content

    def _drain(self) -> None:
        """What of a file nobody wanted to read."""
        while self._current is not None:
            self.read(1 << 20)

    def _retrying(self, step: Any) -> Any:
        """A step, on a new connection where this one breaks."""
        while True:
            try:
                found = step()
            except Broken as error:
                self.close()
                self._left = 0
                self._failures += 1
                if self._failures > TRIES:
                    raise BackendUnreachable(f"the files of {self._handle.name} stopped coming: {error}") from error
                time.sleep(min(10.0, 0.2 * 2**self._failures))
            else:
                self._failures = 0
                return found

    def _connected(self) -> Connection:
        if self._connection is None:
            current = self._current
            connection = Connection(self._reader, self._handle, self._request())
            self._connection = connection
            if current is not None and not self._resumes(connection, current):
                raise BackendUnreachable(f"{current['path']} of {self._handle.name} changed while it was fetched")
        return self._connection

    def _request(self) -> dict[str, Any]:
        partial = [self._current["path"], self._offset] if self._current else None
        done = [path for path in self._done if partial is None or path != partial[0]]
        return {
            "globs": self._globs,
            "max_bytes": self._receiver.max_bytes - self._receiver.bytes,
            "max_files": self._receiver.max_files - self._receiver.files,
            "done": done,
            "partial": partial,
        }

    def _resumes(self, connection: Connection, current: dict[str, Any]) -> bool:
        """Does the content of the same file go on?"""
        message = connection.message()
        while "path" not in message and not message.get("end"):
            message = connection.message()
        same = message.get("path") == current["path"] and message.get("offset") == self._offset
        return same and bool(message.get("content"))


class Connection:
    """One run of the program that sends."""

    def __init__(self, reader: Reader, handle: Handle, request: dict[str, Any]) -> None:
        self._context = reader.execute(handle, "send")
        stream = self._context.__enter__()
        stream.send(json.dumps(request).encode() + b"\n")
        self._in = io.BufferedReader(stream, 1 << 18)

    def message(self) -> dict[str, Any]:
        line = self._in.readline(_LINE)
        try:
            found: dict[str, Any] = json.loads(line)
        except ValueError:
            raise Broken(f"{line[:100]!r} is no message") from None
        return found

    def length(self) -> int:
        return int(struct.unpack(">I", self.bytes(4))[0])

    def bytes(self, count: int) -> bytes:
        return exactly(self._in, count)

    def close(self) -> None:
        self._context.__exit__(None, None, None)
