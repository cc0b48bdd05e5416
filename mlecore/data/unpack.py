"""Unpack a downloaded zip on all cores, safely even if it is hostile.

Names are checked before anything is written, sizes during writing. Threads inflate and hash large members, which
releases the GIL. Small members are written one by one, because handing them to threads would cost more.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from mlecore.data.contents import Member, contents
from mlecore.data.disk_space import require
from mlecore.data.file_order import NEUTRAL_TIME, shuffled, staging_folder
from mlecore.data.hash_cache import HashCache, Known
from mlecore.data.manifest import batched
from mlecore.errors import DataError
from mlecore.util import files
from mlecore_toolkit.safe_names import writing_below
from mlecore_toolkit.zip_members import Members, is_small, open_members

if TYPE_CHECKING:
    from mlecore.model.backends import Progress

_PORTION = 4 << 20  # bytes of members that a thread gets at a time
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL


def unpack(archive: Path, into: Path, progress: Progress | None = None) -> HashCache:
    """Unpack into the new folder ``into``, as read-only files, and return their hashes. Inner archives stay packed.

    Only the user can enter the folder. Raises DataError for an archive that is truncated or damaged, whose members
    would leave the folder, are links, have the same path or inflate too far, and, before anything is written, when the
    disk has too little room.
    """
    members, folders = contents(archive)
    into.parent.mkdir(parents=True, exist_ok=True)
    total = sum(info.file_size for info, _ in members)
    require(into.parent, total, f"unpacking {archive.name}")
    into.mkdir(0o700)
    with writing_below(archive):
        for folder in sorted(folders):
            (into / folder).mkdir(exist_ok=True)
    done, guard = 0, threading.Lock()

    def count(size: int) -> None:
        nonlocal done
        with guard:
            done += size
            if progress is not None:
                progress(done, total, "unpacking")

    with open_members(archive) as opened, staging_folder(into) as new:
        unpacking = _Unpacking(opened, into, new, count)
        # Public files are links to these. Their inodes and times must not reveal the order of the archive, which is
        # often that of the labels: all files are created in random order. Large ones are then filled in the order of
        # reading.
        large = [member for member in members if not is_small(member[0])]
        for member in shuffled(member for member in members if is_small(member[0])):
            unpacking.write(member)
        for _, path in shuffled(large):
            unpacking.create(path)
        _on_all_cores(unpacking.complete, large)
    _refuse_alike(archive, into, folders, [path for _, path in members])
    files.sync_meanwhile(len(members))
    return unpacking.known


class _Unpacking:
    """Writes single members."""

    def __init__(self, members: Members, into: Path, staging: str, count: Callable[[int], None]) -> None:
        self.known = HashCache()
        self._members = members
        self._into = into
        self._new = f"{staging}/new"
        self._count = count

    def write(self, member: Member) -> None:
        """Write a small file."""
        info, path = member
        data = self._members.content(info)
        out = os.open(self._new, _NEW, 0o666 & ~files.WRITABLE)
        try:
            files.write_all(out, data)
            self.known.add(*_finish(out, hashlib.sha256(data).digest()))
        finally:
            os.close(out)
        self._move(path)
        self._count(len(data))

    def create(self, path: str) -> None:
        """Create an empty file that ``complete`` fills."""
        os.close(os.open(self._new, _NEW, 0o666))
        self._move(path)

    def complete(self, member: Member) -> None:
        """Fill the file of a member."""
        path = f"{self._into}/{member[1]}"
        out = os.open(path, os.O_WRONLY)
        try:
            digest = hashlib.sha256()
            for data in self._members.pieces(member[0]):
                digest.update(data)
                files.write_all(out, data)
                self._count(len(data))
            self.known.add(*_finish(out, digest.digest()))
        finally:
            os.close(out)

    def _move(self, path: str) -> None:
        """Move the new file to its path."""
        archive = self._members.archive
        try:
            with writing_below(archive):
                os.rename(self._new, f"{self._into}/{path}")  # noqa: PTH104 - half the time of Path
        except OSError as error:
            if error.errno == errno.EISDIR:
                raise _alike(archive, path) from None
            raise


def _finish(out: int, digest: bytes) -> Known:
    """Set mode and time of a written file; returns its entry for the cache of hashes."""
    os.utime(out, (NEUTRAL_TIME, NEUTRAL_TIME))
    status = os.fstat(out)
    if status.st_mode & files.WRITABLE:
        os.chmod(out, stat.S_IMODE(status.st_mode) & ~files.WRITABLE)
    return status.st_dev, status.st_ino, digest


def _on_all_cores(work: Callable[[Member], None], members: Iterable[Member]) -> None:
    def several(portion: list[Member]) -> None:
        for member in portion:
            work(member)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        try:
            for batch in batched(_portions(members), 64):
                for _ in pool.map(several, batch):
                    continue  # raises what a thread raised
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def _portions(members: Iterable[Member]) -> Iterator[list[Member]]:
    """Portions of work for a thread: one large member, or many small ones to save overhead."""
    portion: list[Member] = []
    size = 0
    for member in members:
        portion.append(member)
        size += member[0].file_size
        if size > _PORTION or len(portion) == 256:
            yield portion
            portion, size = [], 0
    yield portion


def _refuse_alike(archive: Path, into: Path, folders: Collection[str], paths: Sequence[str]) -> None:
    """Reject names that the disk does not tell apart, because it ignores case or normalizes names."""
    there = {f"{folder}/{name}".lstrip("/") for folder in folders for name in os.listdir(into / folder)}  # noqa: PTH208
    lost = [path for path in paths if path not in there] if len(there) < len(paths) + len(folders) - 1 else []
    if lost:
        raise _alike(archive, lost[0])


def _alike(archive: Path, path: str) -> DataError:
    return DataError(f"{archive}: this disk cannot tell {path!r} from another member's name")
