"""The content of a zip's member, read with pread: threads read one archive at the same time, and hold no lock."""

from __future__ import annotations

import os
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from mlecore.archives import damaged, reading

_CHUNK = 1 << 16  # bytes; malloc gets larger buffers from the kernel each time, which clears them: a third of the time
_LOCAL_HEADER = 30  # bytes before the name
_EXTRA = 64  # bytes after the name that are read at once; few archives have more


def content(archive: Path, descriptor: int, info: zipfile.ZipInfo) -> bytes:
    """The whole content of a small member. ``descriptor``: of the archive. Raises DataError for damage."""
    try:
        if not _readable(info):
            data = b"".join(_pieces(archive, descriptor, info))
        else:
            data = b"".join(_packed(archive, descriptor, info))
            if info.compress_type == zipfile.ZIP_DEFLATED:
                data = zlib.decompressobj(-15).decompress(data, info.file_size + 1)
    except Exception:
        with reading(archive, info.filename):
            raise
    _compare(archive, info, len(data), zlib.crc32(data))
    return data


def inflated(archive: Path, descriptor: int, info: zipfile.ZipInfo) -> Iterator[bytes]:
    """The content of a member in pieces of some 64 kB. ``descriptor``: of the archive. Raises DataError for damage."""
    size = crc = 0
    with reading(archive, info.filename):
        for data in _pieces(archive, descriptor, info):
            size += len(data)
            if size > info.file_size:
                break
            crc = zlib.crc32(data, crc)
            yield data
    _compare(archive, info, size, crc)


def _compare(archive: Path, info: zipfile.ZipInfo, size: int, crc: int) -> None:
    if size > info.file_size:
        raise damaged(archive, "it is larger than it says", info.filename)
    if size != info.file_size or crc != info.CRC:
        raise damaged(archive, "it has other content than it was packed with", info.filename)


def _readable(info: zipfile.ZipInfo) -> bool:
    """Without zipfile, whose members are bzip2 or lzma too; so is every member on Windows."""
    return info.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) and hasattr(os, "pread")


def _pieces(archive: Path, descriptor: int, info: zipfile.ZipInfo) -> Iterator[bytes]:
    if not _readable(info):
        with zipfile.ZipFile(archive) as opened, opened.open(info) as member:
            while data := member.read(_CHUNK):
                yield data
        return
    if info.compress_type == zipfile.ZIP_STORED:
        yield from _packed(archive, descriptor, info)
        return
    inflate = zlib.decompressobj(-15)
    for packed in _packed(archive, descriptor, info):
        while packed:
            yield inflate.decompress(packed, _CHUNK)
            packed = inflate.unconsumed_tail
    if rest := inflate.flush():
        yield rest


def _packed(archive: Path, descriptor: int, info: zipfile.ZipInfo) -> Iterator[bytes]:
    """The compressed bytes of a member; those of a small one come with its header, in one read."""
    size = info.compress_size
    data = os.pread(descriptor, min(_CHUNK, _LOCAL_HEADER + len(info.filename) + _EXTRA + size), info.header_offset)
    if data[:4] != b"PK\x03\x04":
        raise damaged(archive, "it does not begin where it should", info.filename)
    start = _LOCAL_HEADER + int.from_bytes(data[26:28], "little") + int.from_bytes(data[28:30], "little")
    data = data[start : start + size]
    if data:
        yield data
    offset = info.header_offset + start + len(data)
    end = info.header_offset + start + size
    while offset < end:
        data = os.pread(descriptor, min(_CHUNK, end - offset), offset)
        if not data:
            raise EOFError("the archive is cut off")
        offset += len(data)
        yield data
