"""Sending an agent's files. The agent created them, and may be changing them meanwhile."""

from __future__ import annotations

import os
import stat
import time
from pathlib import PurePosixPath
from typing import IO, Any

from mle_backend_kubernetes.program.messages import BLOCK, HOME, beat, block, flush, hear, say
from mlecore.util.globs import Glob
from mlecore_jobs.walking import walk


def send() -> int:
    """Send the files below home that a request asks for."""
    request = hear()
    if os.path.isdir(HOME):  # else the agent has not started
        walk(HOME, [Glob(text) for text in request["globs"]], Sender(request))
    say({"end": True})
    return 0


class Sender:
    """Sends what is found, and why the rest does not come, each path once."""

    full = False

    def __init__(self, request: dict[str, Any]) -> None:
        self.bytes = int(request["max_bytes"])
        self.files = int(request["max_files"])
        self.done: set[str] = set(request["done"])

    def looked(self) -> None:
        beat()

    def wants(self, path: PurePosixPath) -> bool:
        return str(path) not in self.done and path.parts[0] != "data"

    def take(self, path: PurePosixPath, size: int, source: IO[bytes]) -> None:
        fits = self.files > 0 and size <= self.bytes
        self._once(path, size=size, content=fits)
        if not fits:
            return
        self.files -= 1
        self.bytes -= size
        left = size
        while left > 0:
            try:
                content = source.read(min(BLOCK, left))
            except OSError as error:
                raise EOFError from error  # half of it has gone out: it must be asked for again
            if not content:
                break
            block(content)
            left -= len(content)
        block(b"")

    def refuse(self, path: PurePosixPath, why: str) -> None:
        self._once(path, refused=why)

    def cut(self, path: PurePosixPath, why: str) -> None:
        self._once(path, cut=why)

    def pass_empty(self, path: PurePosixPath) -> None:
        if path.suffix:
            self.refuse(path, "an empty folder, not a file")

    def _once(self, path: PurePosixPath, **words: object) -> None:
        if str(path) not in self.done:
            self.done.add(str(path))
            say({"path": str(path), **words})


def give(path: str, offset: int, follow: bool) -> int:
    """A file from a byte on. With ``follow``, until the other side closes the connection."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return 0
    with open(descriptor, "rb", buffering=0) as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return 0
        file.seek(offset)
        sent = time.monotonic()
        while True:
            content = file.read(BLOCK)
            if not content and not follow:
                return 0
            if content or time.monotonic() - sent > 1.0:
                block(content)
                flush()
                sent = time.monotonic()
            else:
                time.sleep(0.2)
