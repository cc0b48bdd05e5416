"""Reads the files of both parts once: digests of those that may be equal, small pictures of images and sounds, texts.

Pictures and texts wait in a temporary file, so that memory holds some hundred bytes per file.
"""

from __future__ import annotations

import hashlib
import tempfile
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import IO

import numpy as np
from attrs import define, field, frozen

from mlecore_audit.files import Item
from mlecore_audit.subject import Subject
from mlecore_audit.training import Role
from mlecore_audit.twins.pictures import SIDE, Kind, Picture, hashes_of, kind_of, picture_of
from mlecore_toolkit.prepare.threads import in_threads

MOST = 200_000  # images and sounds of a part that are decoded
_LARGEST = 64 << 20  # bytes of one that is decoded
_TEXT = 1 << 20  # bytes of a text file that is read
_CHUNK = 1 << 20


@define(slots=True)
class Entry:
    """One file of a part."""

    part: Role
    key: str
    name: str
    digest: bytes | None = None  # None: no file of the other part has its size, or it is empty
    kind: Kind | None = None
    hashes: tuple[int, ...] = ()  # perceptual; of training items one; empty: no picture, or one that shows nothing
    place: tuple[int, int] | None = None  # offset and length in the scratch file, of its picture or text


@frozen
class _Read:
    entry: Entry
    data: bytes | None  # None: too large to be kept


@define
class Files:
    """What was read; a context manager, which owns the temporary file."""

    entries: list[Entry] = field(factory=list)
    share: float = 1.0  # of the images and sounds that were decoded, at random
    _scratch: IO[bytes] = field(factory=tempfile.TemporaryFile)
    _end: int = 0

    def __enter__(self) -> Files:
        return self

    def __exit__(self, *_: object) -> None:
        self._scratch.close()

    def picture(self, entry: Entry) -> Picture:
        return np.frombuffer(self._load(entry), np.uint8).reshape(SIDE, SIDE).astype(np.float32)

    def text(self, entry: Entry) -> str:
        return self._load(entry).decode("utf-8", "replace")

    def keep(self, entry: Entry, data: bytes) -> None:
        self._scratch.seek(self._end)
        self._scratch.write(data)
        entry.place = (self._end, len(data))
        self._end += len(data)

    def _load(self, entry: Entry) -> bytes:
        assert entry.place is not None
        self._scratch.seek(entry.place[0])
        return self._scratch.read(entry.place[1])


def read_files(subject: Subject) -> Files:
    """Read every public file that belongs to a row of train or test, in one pass."""
    listed = [(owner[0], item) for item in subject.names if (owner := subject.key_of(item)) is not None]
    both = set.intersection(*({item.size for part, item in listed if part == role} for role in ("train", "test")))
    pictures = Counter(part for part, item in listed if kind_of(item.name))
    files = Files(share=min(1.0, MOST / max(pictures.values(), default=1)))
    for entry, picture in in_threads(_pictured, _read(subject, files, both - {0})):
        files.entries.append(entry)
        if picture is not None:
            hashes = hashes_of(picture, entry.kind or "image")
            entry.hashes = hashes if entry.part == "test" else hashes[:1]
            files.keep(entry, picture.astype(np.uint8).tobytes())
    return files


def _read(subject: Subject, files: Files, sizes: set[int]) -> Iterator[_Read]:
    """Each file of a row that may have a twin; its content only if it is to be decoded."""
    nested = {item.name for item in subject.names}
    for item, stream in subject.contents():
        owner = subject.key_of(item)
        if owner is None:
            continue
        entry = Entry(*owner, item.name, kind=kind_of(item.name))
        decode = entry.kind is not None and item.size <= _LARGEST and _chosen(item, files.share)
        text = PurePosixPath(item.name).suffix.lower() == ".txt" and item.size <= _TEXT
        equal = item.size in sizes or item.name not in nested
        if not (decode or text or equal):
            continue
        data = stream.read(_LARGEST) if decode or text else None
        if equal:
            entry.digest = _digest(stream) if data is None else hashlib.blake2b(data, digest_size=16).digest()
        if text and data is not None:
            files.keep(entry, data)
        yield _Read(entry, data if decode else None)


def _pictured(read: _Read) -> tuple[Entry, Picture | None]:
    entry = read.entry
    return entry, picture_of(read.data, entry.kind) if read.data is not None and entry.kind is not None else None


def _chosen(item: Item, share: float) -> bool:
    return zlib.crc32(item.name.encode("utf-8", "surrogateescape")) < share * 2**32


def _digest(stream: IO[bytes]) -> bytes:
    digest = hashlib.blake2b(digest_size=16)
    while data := stream.read(_CHUNK):
        digest.update(data)
    return digest.digest()
