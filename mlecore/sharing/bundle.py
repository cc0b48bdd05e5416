"""A group as a bundle: a folder or a zip of what anyone needs to check its results, and no more.

``bundle.files`` lists every file with its size and SHA-256, ``bundle.json`` has the SHA-256 of that list.
``mlecore.sharing.exporting`` writes one.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import IO

from attrs import frozen

from mlecore.archives import require_zip
from mlecore.errors import DataError, UsageError
from mlecore.regular import is_regular

HEAD = "bundle.json"
FILES = "bundle.files"
SIGNATURES = "signatures"
"""The folder of statements about the bundle with their signatures: not in its list, as they are about that list."""

FORMAT = 1
_SIGNATURE = re.compile(rf"{SIGNATURES}/[\w-]+\.json(\.sig)?")
_HEAD_LIMIT = 64 * 2**20  # bytes of a list of files
_CHUNK = 1 << 20


@frozen
class Entry:
    """One file of a bundle."""

    path: str
    size: int
    sha256: str


@frozen(kw_only=True)
class Bundle:
    """What is in a bundle, as its own lists say."""

    group: str
    created_at: str
    mlecore: str  # the version that made it
    runs: int
    files: tuple[Entry, ...]
    not_started: frozenset[str] | None = None  # planned runs that had not started; None: the group has no journal


class OpenBundle:
    """A bundle that is read: a folder or a zip, from any source."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._archive: zipfile.ZipFile | None = None
        if not path.is_dir():
            try:
                require_zip(path)
                self._archive = zipfile.ZipFile(path)
            except (OSError, zipfile.BadZipFile, DataError) as error:
                fix = "Give the folder or zip of an export."
                raise UsageError(f"{path} is not a bundle: {error}", fix=fix) from None

    def __enter__(self) -> OpenBundle:
        return self

    def __exit__(self, *_: object) -> None:
        if self._archive:
            self._archive.close()

    def names(self) -> Iterator[str]:
        """Of everything in it."""
        if self._archive:
            yield from (info.filename for info in self._archive.infolist() if not info.is_dir())
            return
        for where, folders, names in os.walk(self.path):
            links = [name for name in folders if Path(where, name).is_symlink()]
            yield from (Path(where, name).relative_to(self.path).as_posix() for name in (*names, *links))

    def read(self, name: str, size: int) -> Iterator[bytes]:
        """A file's chunks, at most ``size`` bytes and one. Raises DataError."""
        try:
            with self._open(name) as file:
                left = size + 1
                while left and (chunk := file.read(min(left, _CHUNK))):
                    left -= len(chunk)
                    yield chunk
        except (OSError, KeyError, zipfile.BadZipFile, RuntimeError, NotImplementedError, EOFError) as error:
            raise DataError(f"{name} cannot be read: {error}") from None

    def _open(self, name: str) -> IO[bytes]:
        if self._archive:
            return self._archive.open(name)
        if not is_regular(self.path / name):
            raise DataError(f"{name} is missing, or is not a regular file")
        return (self.path / name).open("rb")


def read_bundle(source: OpenBundle) -> Bundle:
    """What a bundle says it holds. Raises UsageError if it is not a bundle, DataError if its lists are damaged."""
    try:
        head = json.loads(b"".join(source.read(HEAD, _HEAD_LIMIT)))
        listed = b"".join(source.read(FILES, _HEAD_LIMIT))
        if head["format"] != FORMAT:
            raise UsageError(f"{source.path} has the format {head['format']}", fix="Update mlecore.")
        if hashlib.sha256(listed).hexdigest() != head["files_sha256"]:
            raise DataError(f"{FILES} is not the list that {HEAD} was created with")
        entries = tuple(_entry(line) for line in listed.decode().splitlines())
        if len({entry.path for entry in entries}) != len(entries):
            raise ValueError("a file is listed twice")
        return Bundle(
            group=str(head["group"]),
            created_at=str(head["created_at"]),
            mlecore=str(head["mlecore"]),
            runs=int(head["runs"]),
            files=entries,
            not_started=None if head.get("not_started") is None else frozenset(map(str, head["not_started"])),
        )
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise DataError(f"{source.path}: its lists cannot be read: {type(error).__name__}: {error}") from None


def _entry(line: str) -> Entry:
    sha256, size, path = line.split(" ", 2)
    entry = Entry(json.loads(path), int(size), sha256)
    parts = PurePosixPath(entry.path).parts
    if not parts or parts[0] == "/" or ".." in parts or "\\" in entry.path or "\0" in entry.path:
        raise ValueError(f"{entry.path!r} leads out of the bundle")
    return entry


def problems(source: OpenBundle, bundle: Bundle) -> list[str]:
    """What is missing, extra, or different from the list; empty for an intact bundle."""
    found = []
    listed = {entry.path for entry in bundle.files}
    extra = sorted(name for name in set(source.names()) - listed - {HEAD, FILES} if not _SIGNATURE.fullmatch(name))
    found += [f"{path}: is not in the list" for path in extra]
    for entry in bundle.files:
        digest, size = hashlib.sha256(), 0
        try:
            for chunk in source.read(entry.path, entry.size):
                digest.update(chunk)
                size += len(chunk)
        except DataError as error:
            found.append(error.message)
            continue
        if size != entry.size:
            found.append(f"{entry.path}: has {'more' if size > entry.size else 'fewer'} than its {entry.size} bytes")
        elif digest.hexdigest() != entry.sha256:
            found.append(f"{entry.path}: has other content than was exported")
    return found


def unpack(source: OpenBundle, bundle: Bundle, into: Path) -> None:
    """Copy a verified bundle's files into a folder. Raises DataError if they do not fit into one."""
    for entry in bundle.files:
        target = into / entry.path
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("xb") as file:
                for chunk in source.read(entry.path, entry.size):
                    file.write(chunk)
        except OSError as error:
            raise DataError(f"{entry.path} cannot be unpacked: {error.strerror}") from None
