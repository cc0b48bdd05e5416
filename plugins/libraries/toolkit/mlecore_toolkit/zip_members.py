"""Reads the members of a zip in several threads that do not wait for each other."""

from __future__ import annotations

import os
import threading
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cached_property
from pathlib import Path

from mlecore_toolkit.archives import damaged, reading

_CHUNK = 1 << 16  # bytes; larger buffers take 50 % longer: malloc gets them from the kernel each time, cleared
_SMALL = 1 << 15  # bytes
_LOCAL_HEADER = 30  # bytes before the name
_EXTRA = 64  # bytes after the name that are read with it; few archives have more


@contextmanager
def open_members(archive: Path) -> Iterator[Members]:
    """Open a zip to read its members. Raises OSError."""
    with ExitStack() as opened:
        yield Members(archive, opened.enter_context(archive.open("rb")).fileno(), opened)


class Members:
    """Reads the members of one zip, each in any thread."""

    def __init__(self, archive: Path, descriptor: int, opened: ExitStack) -> None:
        self.archive = archive
        self._descriptor = descriptor
        self._opened = opened
        self._turn = threading.Lock()

    def content(self, info: zipfile.ZipInfo) -> bytes:
        """The whole content of a small member. Raises DataError if it is damaged."""
        try:
            if not _common(info):
                data = b"".join(self._rare(info))
            else:
                data = b"".join(self._packed(info))
                if info.compress_type == zipfile.ZIP_DEFLATED:
                    data = zlib.decompressobj(-15).decompress(data, info.file_size + 1)
        except Exception:
            with reading(self.archive, info.filename):
                raise
        self._compare(info, len(data), zlib.crc32(data))
        return data

    def pieces(self, info: zipfile.ZipInfo) -> Iterator[bytes]:
        """The content of a member in pieces of about 64 kB. Raises DataError if it is damaged, perhaps only at the
        end."""
        size = crc = 0
        with reading(self.archive, info.filename):
            for data in self._pieces(info):
                size += len(data)
                if size > info.file_size:
                    break
                crc = zlib.crc32(data, crc)
                yield data
        self._compare(info, size, crc)

    def _compare(self, info: zipfile.ZipInfo, size: int, crc: int) -> None:
        if size > info.file_size:
            raise damaged(self.archive, "it is larger than it says", info.filename)
        if size != info.file_size or crc != info.CRC:
            raise damaged(self.archive, "it has other content than it was packed with", info.filename)

    def _pieces(self, info: zipfile.ZipInfo) -> Iterator[bytes]:
        if not _common(info):
            yield from self._rare(info)
        elif info.compress_type == zipfile.ZIP_STORED:
            yield from self._packed(info)
        else:
            inflate = zlib.decompressobj(-15)
            for packed in self._packed(info):
                while packed:
                    yield inflate.decompress(packed, _CHUNK)
                    packed = inflate.unconsumed_tail
            if rest := inflate.flush():
                yield rest

    def _rare(self, info: zipfile.ZipInfo) -> Iterator[bytes]:
        with self._turn:
            opened = self._zip
        with opened.open(info) as member:
            while data := member.read(_CHUNK):
                yield data

    @cached_property
    def _zip(self) -> zipfile.ZipFile:
        return self._opened.enter_context(zipfile.ZipFile(self.archive))

    def _packed(self, info: zipfile.ZipInfo) -> Iterator[bytes]:
        """The compressed bytes of a member. A small one is read together with its header."""
        begin, size = info.header_offset, info.compress_size
        data = self._read(min(_CHUNK, _LOCAL_HEADER + len(info.filename) + _EXTRA + size), begin)
        if data[:4] != b"PK\x03\x04":
            raise damaged(self.archive, "it does not begin where it should", info.filename)
        header = _LOCAL_HEADER + int.from_bytes(data[26:28], "little") + int.from_bytes(data[28:30], "little")
        begin += header
        data = data[header : header + size]
        if data:
            yield data
        offset = begin + len(data)
        while offset < begin + size:
            data = self._read(min(_CHUNK, begin + size - offset), offset)
            if not data:
                raise EOFError("the archive is cut off")
            offset += len(data)
            yield data

    def _read(self, size: int, offset: int) -> bytes:
        return os.pread(self._descriptor, size, offset)


def is_small(info: zipfile.ZipInfo) -> bool:
    """Small enough to read at once, by both sizes (either may be forged)."""
    return info.file_size <= _SMALL and info.compress_size <= _SMALL


def _common(info: zipfile.ZipInfo) -> bool:
    """Is it stored or deflated? zipfile reads bzip2 and lzma."""
    return info.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
