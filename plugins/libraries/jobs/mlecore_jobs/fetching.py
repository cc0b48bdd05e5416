"""Stores the files of a job, for every backend: limits, names that are safe to print, the logs written outside it.

How a backend reaches the files is its own affair; every file may come from a hostile agent. ``Backend.fetch`` lists
the rules that a Receiver keeps.
"""

from __future__ import annotations

import errno
import os
from abc import ABC, abstractmethod
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path, PurePosixPath
from typing import IO

from attrs import frozen

from mlecore.errors import DiskError
from mlecore.util.globs import Glob
from mlecore.util.printable import printable

RELAY_LOG = PurePosixPath("logs/relay.jsonl")
GATEWAY_LOG = PurePosixPath("logs/gateway.jsonl")
TRANSCRIPTS = PurePosixPath("logs/transcripts.jsonl.zst")
OUTSIDE_LOGS = (GATEWAY_LOG, TRANSCRIPTS, RELAY_LOG)
"""Names, relative to home, under which ``fetch()`` stores what a job's relay and gateway wrote outside of it."""

MAX_REFUSED = 100  # refusals that are listed
_CHUNK = 1 << 20
_BLOCK = 4096  # bytes; of most file systems
_ZEROS = bytes(_BLOCK)
_OF_THE_NAME = (errno.EEXIST, errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG, errno.EINVAL, errno.EILSEQ, errno.ELOOP)
_CREATE = (
    os.O_WRONLY | os.O_CREAT | os.O_EXCL | sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_CLOEXEC", "O_BINARY"))
)


@frozen(kw_only=True)
class Fetched:
    """The files that fetch() stored, and those that it rejected."""

    files: int
    bytes: int
    refused: tuple[str, ...] = ()  # "path: why", safe to print, a bounded number
    complete: bool = True  # False: a limit kept something out


class Selection(ABC):
    """Which files of a job are taken: at most ``max_files`` with ``max_bytes`` in all. ``store`` says where to."""

    def __init__(self, max_bytes: int, max_files: int) -> None:
        self.max_bytes = max_bytes
        self.max_files = max_files
        self.files = 0
        self.bytes = 0
        self.full = False  # max_files are stored, and there was another one: no need to look for more
        self._complete = True
        self._refused: list[str] = []
        self._refusals = 0
        self._seen: set[PurePosixPath] = set()

    def looked(self) -> None:  # noqa: B027  # most need no sign of life
        """A walk has come to another name; whoever waits for it may want to know."""

    def wants(self, path: PurePosixPath) -> bool:
        """Should it be stored? Not twice, and not what the job was given as data."""
        return path not in self._seen and path.parts[:1] != ("data",)

    def take(self, path: PurePosixPath, size: int, source: IO[bytes]) -> None:
        """Store a file of ``size`` bytes, whole or not at all. If it has grown since, it is cut there.

        ``path``, relative to home, has no ``..``. Raises DiskError if it cannot be written here, and what
        ``source.read`` raises.
        """
        if not self.wants(path):
            return
        if path in OUTSIDE_LOGS:
            self.refuse(path, f"only what the job's {path.stem.partition('.')[0]} wrote may have this name")
        else:
            self._take(path, size, source)

    @abstractmethod
    def store(self, path: PurePosixPath, size: int, source: IO[bytes]) -> int | None:
        """Put a file where it belongs, and return how many bytes it had; None: it was rejected."""

    def take_outside_log(self, path: PurePosixPath, globs: Iterable[Glob], source: IO[bytes]) -> None:
        """Store one of ``OUTSIDE_LOGS``, if it was asked for. Call it first, so that there is room."""
        if any(glob.matches(path) for glob in globs):
            size = source.seek(0, os.SEEK_END)
            source.seek(0)
            self._take(path, size, source)

    def take_anyhow(self, path: PurePosixPath, size: int, source: IO[bytes]) -> None:
        """Store a file that another Selection let through already: its name may be one of ``OUTSIDE_LOGS``."""
        if self.wants(path):
            self._take(path, size, source)

    def forget(self, path: PurePosixPath) -> None:
        """A file whose transfer broke off may be taken again."""
        self._seen.discard(path)

    def refuse(self, path: PurePosixPath | str, why: str) -> None:
        """Note why a file is not stored; ``why`` is in the backend's words."""
        self._refusals += 1
        if self._refusals <= MAX_REFUSED:
            self._refused.append(f"{printable(str(path))[-200:]}: {why}")

    def pass_empty(self, path: PurePosixPath) -> None:
        """An empty folder that matches is rejected if its name is a file's: somebody looks for a file there."""
        if path.suffix:
            self.refuse(path, "an empty folder, not a file")

    def cut(self, path: PurePosixPath | str, why: str) -> None:
        """The same for what a limit keeps out, so that the result is not complete."""
        self._complete = False
        self.refuse(path, why)

    def fetched(self) -> Fetched:
        more = self._refusals - len(self._refused)
        refused = (*self._refused, *([f"and {more} more"] if more else []))
        return Fetched(files=self.files, bytes=self.bytes, refused=refused, complete=self._complete)

    def _take(self, path: PurePosixPath, size: int, source: IO[bytes]) -> None:
        self._seen.add(path)
        if self.files >= self.max_files:
            if not self.full:
                self.cut(path, f"no more than {self.max_files} files are taken, and none after it was looked at")
            self.full = True
            return
        if size > self.max_bytes - self.bytes:
            self.cut(path, f"{size} bytes, and the limit of {self.max_bytes} leaves {self.max_bytes - self.bytes}")
            return
        stored = self.store(path, size, source)
        if stored is not None:
            self.files += 1
            self.bytes += stored


class Receiver(Selection):
    """Stores files in the new folder ``into``."""

    def __init__(self, into: Path, max_bytes: int, max_files: int) -> None:
        super().__init__(max_bytes, max_files)
        into.mkdir()
        self.into = into

    def store(self, path: PurePosixPath, size: int, source: IO[bytes]) -> int | None:
        target = self.into / path
        try:
            self._make_folder(target.parent)
            out = os.fdopen(os.open(target, _CREATE, 0o644), "wb")
        except (OSError, ValueError) as error:
            if isinstance(error, OSError) and error.errno not in _OF_THE_NAME:
                raise _disk_error(self.into, error) from error
            self.refuse(path, f"cannot be stored by this name ({getattr(error, 'strerror', None) or error})")
            return None
        left = size
        try:
            with out:
                while left and (chunk := source.read(min(_CHUNK, left))):
                    try:
                        _write(out, chunk)
                    except OSError as error:
                        raise _disk_error(self.into, error) from error
                    left -= len(chunk)
                try:
                    out.truncate()  # for a hole at the end
                except OSError as error:
                    raise _disk_error(self.into, error) from error
        except BaseException:
            target.unlink()
            raise
        return size - left

    def _make_folder(self, folder: Path) -> None:
        """Never make ``into`` again: if it is gone, so is its disk."""
        if folder != self.into and not folder.is_dir():
            self._make_folder(folder.parent)
            folder.mkdir()


def _write(out: IO[bytes], chunk: bytes) -> None:
    """Blocks of zeros become holes: a sparse file must not fill this disk."""
    if chunk.count(0) < _BLOCK:
        out.write(chunk)
    else:
        blocks = (chunk[at : at + _BLOCK] for at in range(0, len(chunk), _BLOCK))
        for empty, run in groupby(blocks, lambda block: block == _ZEROS[: len(block)]):
            content = b"".join(run)
            if empty:
                out.seek(len(content), os.SEEK_CUR)
            else:
                out.write(content)
    out.flush()


def _disk_error(folder: Path, error: OSError) -> DiskError:
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    return DiskError(
        f"the files of a run cannot be written to {folder}: {error.strerror}",
        fix="Free some disk space." if full else "Check that its disk is mounted and works.",
    )
