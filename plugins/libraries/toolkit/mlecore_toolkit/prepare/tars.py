"""Reads tar archives, compressed or not, in one pass, and writes them.

The same input gives the same bytes: times and modes are fixed, members have the given order.
"""

from __future__ import annotations

import io
import os
import tarfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from gzip import GzipFile
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

from mlecore.errors import DataError
from mlecore_toolkit.archives import reading, refuse_bomb
from mlecore_toolkit.prepare.tables import new_file
from mlecore_toolkit.safe_names import safe_name

if TYPE_CHECKING:
    from typing import Self

_BLOCK = 1 << 16  # bytes; see zip_members
_HEADER = 1 << 20  # bytes of a header, at most
_HEADERS = (  # headers of the next member
    *(tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE),
    *(tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK),
)


def tar_members(archive: Path, source: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
    """The members of a tar. Rejects one that would make it a bomb before reading it."""
    total = 0
    for member in source:
        if member.size < 0:
            raise tarfile.ReadError("a size is negative")
        total += member.size
        refuse_bomb(archive, total)
        yield member


@contextmanager
def open_tar(archive: Path) -> Iterator[tarfile.TarFile]:
    """Open a tar, whatever its compression. All of it is read in the end, because the checksum comes last."""
    with reading(archive), _uncompressed(archive) as stream:
        with tarfile.open(fileobj=stream, mode="r:", tarinfo=_TarInfo) as source:
            yield source
        rest = 0
        while block := stream.read(_BLOCK):
            rest += len(block)
            refuse_bomb(archive, rest)


def _uncompressed(archive: Path) -> IO[bytes]:
    import bz2
    import gzip
    import lzma

    with archive.open("rb") as file:
        start = file.read(3)
    for begin, opened in ((b"\x1f\x8b", gzip.open), (b"BZh", bz2.open), (b"\xfd7z", lzma.open), (b"]\0\0", lzma.open)):
        if start.startswith(begin):
            return io.BufferedReader(cast("io.RawIOBase", opened(archive)), _BLOCK)  # headers cause many small reads
    return archive.open("rb", _BLOCK)


class _TarInfo(tarfile.TarInfo):
    """A member's header. Limits the size of long names, which tarfile reads into memory whatever size they claim."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        info = super().frombuf(buf, encoding, errors)
        if info.type in _HEADERS and not 0 <= info.size <= _HEADER:
            raise tarfile.TarError(f"a header has {info.size:,} bytes")
        return info


def content(source: tarfile.TarFile, member: tarfile.TarInfo) -> Iterator[bytes]:
    """The content of a member. For small members tarfile's own reader takes several times as long."""
    stream = source.fileobj
    assert stream is not None  # it is open
    if member.issparse():
        stream = cast("IO[bytes]", source.extractfile(member))
    else:
        stream.seek(member.offset_data)
    left = member.size
    while left:
        data = stream.read(min(left, _BLOCK))
        if not data:
            raise tarfile.ReadError("unexpected end of data")
        left -= len(data)
        yield data


def write_tar(source: Path, target: Path, names: Mapping[str, str], *, compressed: bool = False) -> None:
    """Write a tar of files below folder ``source``: old name to new name, in the order of ``names``.

    ``compressed``: with gzip at its fastest level. The target's name does not matter: a published ``.tar.gz`` is
    uncompressed. Times, owners and modes are left out. Raises DataError if a file is missing, or if the target exists.
    """
    with (
        new_file(target) as file,
        _gzipped(file) if compressed else nullcontext(file) as stream,
        tarfile.open(fileobj=stream, mode="w:") as archive,
    ):
        for old, new in names.items():
            path = source / safe_name(old)
            member = tarfile.TarInfo(safe_name(new))
            try:
                with path.open("rb") as reader:
                    member.size = os.fstat(reader.fileno()).st_size
                    archive.addfile(member, reader)
            except FileNotFoundError:
                raise DataError(f"{path} is missing") from None
            archive.members = []  # type: ignore[attr-defined]  # else it keeps all of them


def _gzipped(file: IO[bytes]) -> GzipFile:
    """A gzip stream for writing, without a name and a time, so that the same input gives the same bytes."""
    return GzipFile("", "wb", fileobj=file, mtime=0, compresslevel=1)
