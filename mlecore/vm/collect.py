"""Copy files out of a job's home. What is there is hostile: links, FIFOs, sparse files, and it changes meanwhile.

Every folder and file is opened by its name in the folder opened before it, without following links and without
waiting, and judged by what was opened.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path

from attrs import define, field

from mlecore.backends import Fetched
from mlecore.errors import BackendError

FILES_MOST = 50_000
ENTRIES_MOST = 500_000  # names looked at
DEPTH_MOST = 48
REFUSED_MOST = 100
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
_CHUNK = 1 << 20


@define
class _Walk:
    into: Path
    limit: int
    files: int = 0
    bytes: int = 0
    entries: int = 0
    refusals: int = 0
    refused: list[str] = field(factory=list)
    complete: bool = True
    stopped: bool = False
    taken: set[str] = field(factory=set)

    def refuse(self, path: str, why: str, cut: bool = False) -> None:
        self.refusals += 1
        if self.refusals <= REFUSED_MOST:
            self.refused.append(f"{_printable(path)[-200:]}: {why}")
        self.complete = self.complete and not cut

    def full(self, path: str) -> bool:
        """Are there files enough?"""
        if self.files < FILES_MOST:
            return False
        if not self.stopped:
            self.refuse(path or ".", f"not read on after {self.files} files", cut=True)
        self.stopped = True
        return True


def _printable(path: str) -> str:
    """The agent chose it: nothing in it may upset a terminal."""
    text = os.fsencode(path).decode("utf-8", "backslashreplace")
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text)


def collect(home: Path, globs: Sequence[str], into: Path, limit: int) -> Fetched:
    """See ``Backend.fetch``. A file that the limit has no room for is refused; smaller ones after it still come."""
    into.mkdir(parents=True, exist_ok=True)
    walk = _Walk(into=into, limit=limit)
    try:
        root = os.open(home, _FOLDER)
    except OSError as error:
        raise BackendError(f"cannot read {home}: {error.strerror}") from None
    try:
        for glob in globs:
            parts = [part for part in glob.split("/") if part not in ("", ".")]
            if ".." in parts:
                raise BackendError(f"{glob!r} leads out of the sandbox's home")
            _match(walk, root, "", parts)
    finally:
        os.close(root)
    if walk.refusals > REFUSED_MOST:
        walk.refused.append(f"and {walk.refusals - REFUSED_MOST} more")
    return Fetched(files=walk.files, bytes=walk.bytes, refused=tuple(walk.refused), complete=walk.complete)


def _names(walk: _Walk, folder: int, path: str) -> list[str]:
    try:
        with os.scandir(folder) as found:
            names = [entry.name for entry in islice(found, ENTRIES_MOST - walk.entries + 1)]
    except OSError as error:
        walk.refuse(path, error.strerror or "cannot be read")
        return []
    walk.entries += len(names)
    if walk.entries > ENTRIES_MOST and names:
        walk.entries -= 1
        walk.refuse(path, f"not read on after {ENTRIES_MOST} names in all", cut=True)
        names.pop()
    return sorted(names)


def _match(walk: _Walk, folder: int, path: str, parts: Sequence[str], depth: int = 0) -> None:
    if walk.full(path):
        return
    if not parts:
        _below(walk, folder, path, depth)
        return
    part, rest = parts[0], parts[1:]
    if part == "**":
        _match(walk, folder, path, rest or ["*"], depth)
    if any(sign in part for sign in "*?["):
        pattern = "*" if part == "**" else part
        names = [name for name in _names(walk, folder, path) if fnmatchcase(name, pattern)]
    else:
        names = [part]
    for name in names:
        if walk.full(path):
            return
        inner = f"{path}/{name}" if path else name
        if part == "**":
            _enter(walk, folder, name, inner, parts, depth, quiet=True)
        else:
            _enter(walk, folder, name, inner, rest, depth, quiet=bool(rest))


def _enter(
    walk: _Walk, folder: int, name: str, path: str, parts: Sequence[str], depth: int, quiet: bool = False
) -> None:
    """Go on with ``name`` in ``folder``; ``quiet``: only folders matter here."""
    try:
        seen = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return
    except OSError as error:
        walk.refuse(path, error.strerror or "cannot be read")
        return
    if stat.S_ISDIR(seen.st_mode):
        if depth >= DEPTH_MOST:
            walk.refuse(path, f"more than {DEPTH_MOST} folders deep", cut=True)
            return
        try:
            inner = os.open(name, _FOLDER, dir_fd=folder)
        except OSError as error:
            walk.refuse(path, error.strerror or "cannot be opened")
            return
        try:
            _match(walk, inner, path, parts, depth + 1)
        finally:
            os.close(inner)
    elif quiet:
        if stat.S_ISLNK(seen.st_mode) and parts[0] != "**":
            walk.refuse(path, "a symbolic link, not a folder")
    else:
        _file(walk, folder, name, path, seen)


def _below(walk: _Walk, folder: int, path: str, depth: int) -> None:
    for name in _names(walk, folder, path):
        if walk.full(path):
            return
        _enter(walk, folder, name, f"{path}/{name}" if path else name, (), depth)


_KINDS = (
    (stat.S_ISLNK, "a symbolic link, not a file"),
    (stat.S_ISFIFO, "a FIFO, not a file"),
    (stat.S_ISSOCK, "a socket, not a file"),
    (stat.S_ISCHR, "a device, not a file"),
    (stat.S_ISBLK, "a device, not a file"),
)


def _file(walk: _Walk, folder: int, name: str, path: str, seen: os.stat_result) -> None:
    if path in walk.taken:
        return
    for is_kind, why in _KINDS:
        if is_kind(seen.st_mode):
            walk.refuse(path, why)
            return
    try:
        source = os.open(name, _FILE, dir_fd=folder)
    except OSError as error:
        walk.refuse(path, error.strerror or "cannot be opened")
        return
    try:
        now = os.fstat(source)
        if not stat.S_ISREG(now.st_mode):
            walk.refuse(path, "it turned into something else than a file")
        elif now.st_size > walk.limit - walk.bytes:
            left = walk.limit - walk.bytes
            walk.refuse(path, f"{now.st_size} bytes, and the limit leaves {left}", cut=True)
        else:
            walk.bytes += _copy(source, walk.into / path, now.st_size)
            walk.files += 1
            walk.taken.add(path)
    finally:
        os.close(source)


def _copy(source: int, target: Path, size: int) -> int:
    """At most ``size`` bytes: a file that grows meanwhile is cut where it ended when it was opened."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        out = os.open(target, flags, 0o644)
    except FileNotFoundError:
        target.parent.mkdir(parents=True, exist_ok=True)
        out = os.open(target, flags, 0o644)
    done = 0
    try:
        while done < size:
            try:
                count = os.sendfile(out, source, None, min(_CHUNK, size - done))
            except OSError:
                data = os.read(source, min(_CHUNK, size - done))
                count = os.write(out, data) if data else 0
            if count == 0:
                break
            done += count
    finally:
        os.close(out)
    return done
