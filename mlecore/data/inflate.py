"""The content of a zip's member, read with pread: threads read one archive at the same time, and hold no lock."""

from __future__ import annotations

import os
import struct
import sys
import threading
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from mlecore.archives import damaged, reading

_CHUNK = 1 << 20
_LOCAL_HEADER = struct.Struct("<4s5H3I2H")
_one_at_a_time = threading.Lock()  # on Windows, which has no pread


def inflated(archive: Path, descriptor: int, info: zipfile.ZipInfo) -> Iterator[bytes]:
    """The content of a member in pieces of at most a megabyte or so. ``descriptor``: of the archive.

    Raises DataError for damage that shows before its end: neither size nor checksum are compared here.
    """
    with reading(archive, info.filename):
        yield from _pieces(archive, descriptor, info)


def _pieces(archive: Path, descriptor: int, info: zipfile.ZipInfo) -> Iterator[bytes]:
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        with zipfile.ZipFile(archive) as opened, opened.open(info) as member:  # bzip2, lzma
            while data := member.read(_CHUNK):
                yield data
        return
    inflate = zlib.decompressobj(-15) if info.compress_type == zipfile.ZIP_DEFLATED else None
    for packed in _packed(archive, descriptor, info):
        if inflate is None:
            yield packed
            continue
        while packed:
            yield inflate.decompress(packed, _CHUNK)
            packed = inflate.unconsumed_tail
    if inflate is not None:
        yield inflate.flush()


def _packed(archive: Path, descriptor: int, info: zipfile.ZipInfo) -> Iterator[bytes]:
    """The compressed bytes of a member; those of a small one come with its header, in one read."""
    predictions = _LOCAL_HEADER.size + len(info.filename) + 64
    data = _pread(descriptor, min(_CHUNK, predictions + info.compress_size), info.header_offset)
    header = _LOCAL_HEADER.unpack_from(data)
    if header[0] != b"PK\x03\x04":
        raise damaged(archive, "it does not begin where it should", info.filename)
    start = _LOCAL_HEADER.size + header[9] + header[10]
    data = data[start : start + info.compress_size]
    if data:
        yield data
    offset = info.header_offset + start + len(data)
    end = info.header_offset + start + info.compress_size
    while offset < end:
        data = _pread(descriptor, min(_CHUNK, end - offset), offset)
        if not data:
            raise EOFError("the archive is cut off")
        offset += len(data)
        yield data


def _pread(descriptor: int, size: int, offset: int) -> bytes:
    if sys.platform != "win32":
        return os.pread(descriptor, size, offset)
    with _one_at_a_time:
        os.lseek(descriptor, offset, os.SEEK_SET)
        return os.read(descriptor, size)
