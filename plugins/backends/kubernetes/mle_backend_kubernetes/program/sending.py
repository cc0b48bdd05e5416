"""Sending an agent's files. The agent created them, and may be changing them meanwhile."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import time
from typing import IO, Any

from mle_backend_kubernetes.program.messages import BLOCK, HOME, beat, block, flush, hear, say
from mlecore.util.globs import Glob

MOST_NAMES = 200_000  # of one glob
DEPTH = 200  # of folders


def send() -> int:
    """Send the files below home that a request asks for."""
    request = hear()
    Sender(request).send(request["globs"])
    return 0


class Sender:
    """Sends what globs match, in their order."""

    def __init__(self, request: dict[str, Any]) -> None:
        self.bytes = int(request["max_bytes"])
        self.files = int(request["max_files"])
        self.done: set[str] = set(request["done"])

    def send(self, globs: list[str]) -> None:
        if not os.path.isdir(HOME):  # the agent has not started
            globs = []
        for text in globs:
            glob = Glob(text)
            self.left = MOST_NAMES
            root = self.enter(HOME, "home", None)
            if root is not None:
                try:
                    self.lead(glob, root, "", list(glob.prefix.parts))
                finally:
                    os.close(root)
        say({"end": True})

    def lead(self, glob: Glob, folder: int, at: str, parts: list[str]) -> None:
        """Go down the folders that a glob names without wildcards."""
        if not parts:
            self.walk(glob, folder, at, DEPTH)
            return
        path = at + parts[0]
        try:
            found = os.stat(parts[0], dir_fd=folder, follow_symlinks=False)
        except OSError:
            return
        if len(parts) > 1 and not stat.S_ISDIR(found.st_mode):
            self.once(path, refused="a link or no folder")
        elif stat.S_ISDIR(found.st_mode):
            inner = self.enter(parts[0], path, folder)
            if inner is not None:
                try:
                    self.lead(glob, inner, path + "/", parts[1:])
                finally:
                    os.close(inner)
        elif glob.matches(path):
            self.entry(parts[0], path, folder, found)

    def walk(self, glob: Glob, folder: int, at: str, depth: int) -> None:
        with os.scandir(folder) as entries:
            for entry in entries:
                path = at + entry.name
                if path == "data" or self.left < 0:
                    continue
                self.left -= 1
                beat()
                if self.left < 0:
                    self.once(path, cut="too many names; the rest was left out")
                    return
                try:
                    found = entry.stat(follow_symlinks=False)
                except OSError:
                    continue
                if not stat.S_ISDIR(found.st_mode):
                    if glob.matches(path):
                        self.entry(entry.name, path, folder, found)
                elif glob.leads_into(path):
                    if depth == 0:
                        self.once(path, cut="too many folders in each other")
                        continue
                    inner = self.enter(entry.name, path, folder)
                    if inner is not None:
                        try:
                            self.walk(glob, inner, path + "/", depth - 1)
                        finally:
                            os.close(inner)

    def enter(self, name: str, path: str, folder: int | None) -> int | None:
        """Open a folder, also one that the agent has locked. One that can only be listed gives nothing out, either."""
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
        opened = self.unlocked(name, path, folder, flags, 0o700)
        if opened is not None and not os.fstat(opened).st_mode & stat.S_IXUSR:
            with contextlib.suppress(OSError):
                os.fchmod(opened, 0o700)
        return opened

    def unlocked(self, name: str, path: str, folder: int | None, flags: int, mode: int) -> int | None:
        for attempt in (1, 2):
            try:
                return os.open(name, flags, dir_fd=folder)
            except OSError as error:
                if error.errno == errno.ENOENT:
                    return None
                if error.errno != errno.EACCES or attempt == 2:
                    self.once(path, refused=str(error.strerror))
                    return None
                with contextlib.suppress(OSError):
                    os.chmod(name, mode, dir_fd=folder)
        return None

    def entry(self, name: str, path: str, folder: int, found: os.stat_result) -> None:
        if path in self.done:
            return
        if stat.S_ISLNK(found.st_mode):
            target = ""
            with contextlib.suppress(OSError):
                target = os.readlink(name, dir_fd=folder)
            self.once(path, refused="a symbolic link to " + ascii(target[:200]))
        elif not stat.S_ISREG(found.st_mode):
            self.once(path, refused="a FIFO" if stat.S_ISFIFO(found.st_mode) else "no regular file")
        else:
            descriptor = self.unlocked(name, path, folder, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600)
            if descriptor is not None:
                with open(descriptor, "rb", buffering=0) as file:
                    self.file(path, file)

    def file(self, path: str, file: IO[bytes]) -> None:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            self.once(path, refused="no regular file")
            return
        self.done.add(path)
        fits = self.files > 0 and found.st_size <= self.bytes
        say({"path": path, "size": found.st_size, "content": fits})
        if not fits:
            return
        self.files -= 1
        self.bytes -= found.st_size
        left = found.st_size
        while left > 0:
            content = file.read(min(BLOCK, left))
            if not content:
                break
            block(content)
            left -= len(content)
        block(b"")

    def once(self, path: str, **words: str) -> None:
        if path not in self.done:
            self.done.add(path)
            say({"path": path, **words})


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
