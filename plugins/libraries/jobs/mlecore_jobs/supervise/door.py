"""The way into a sandbox of Apptainer: a socket that its first program finds there, and what it hands out."""

from __future__ import annotations

import array
import json
import os
import socket
import struct
from typing import Any

SOCKET = "door"  # in the folder that the sandbox shows
_VIEWS = 3  # descriptors, as in enter.py: its processes, its shared memory, its segments


class Guest:
    """The first process of a sandbox, which waits for ``begin``."""

    def __init__(self, connection: socket.socket) -> None:
        """Raises OSError if it is gone."""
        self._connection = connection
        peer = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        self.pid: int = struct.unpack("3i", peer)[0]  # out here
        item = array.array("i")
        handed = connection.recvmsg(1, socket.CMSG_SPACE(16 * item.itemsize), socket.MSG_CMSG_CLOEXEC)[1]
        for _, _, content in handed:
            item.frombytes(content[: len(content) - len(content) % item.itemsize])
        if len(item) < _VIEWS:
            connection.close()
            raise OSError("the sandbox ended before it could begin")
        self.proc, self.shm, self.segments, *self.listening = item

    def begin(self, orders: dict[str, Any]) -> None:
        """It becomes the job. Raises OSError if it is gone."""
        with self._connection:
            self._connection.sendall(json.dumps(orders).encode())


class Door:
    """Listens for one guest."""

    def __init__(self, folder: str) -> None:
        self._folder = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(f"/proc/self/fd/{self._folder}/{SOCKET}")  # the folder's own path may be too long
        self._listener.listen(1)

    def fileno(self) -> int:
        return self._listener.fileno()

    def let_in(self) -> Guest:
        """And nobody after it. Raises OSError."""
        connection, _ = self._listener.accept()
        self.close()
        connection.settimeout(20.0)
        return Guest(connection)

    def close(self) -> None:
        if self._listener.fileno() >= 0:
            self._listener.close()
            os.unlink(SOCKET, dir_fd=self._folder)
            os.close(self._folder)
