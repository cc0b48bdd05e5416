"""Reads and writes zip archives, and moves members between them without inflating them.

The same input gives the same bytes: times and modes are fixed, members have the given order.
"""

from __future__ import annotations

import io
import shutil
import stat
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import IO, Any

from mlecore.errors import DataError
from mlecore_toolkit.archives import damaged, reading, refuse_zip_bomb, require_zip
from mlecore_toolkit.safe_names import safe_name

_TIME = (1980, 1, 1, 0, 0, 0)
_MODE = (stat.S_IFREG | 0o644) << 16
_LOCAL_HEADER = 30  # bytes before the name
_SIZES = 18  # offset of both sizes in a header; 0xffffffff if sizes of 64 bits follow
_BLOCK = 1 << 20
_COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)


@contextmanager
def open_zip(path: Path) -> Iterator[zipfile.ZipFile]:
    """Open a zip for reading. Raises DataError if it is missing, damaged (perhaps only when a member is read) or a
    bomb.

    A zip behind other bytes, such as a self-extracting program, is rejected.
    """
    require_zip(path)
    with reading(path):
        archive = _Zip(path)
    with archive:
        refuse_zip_bomb(path, archive.infolist())
        yield archive


@contextmanager
def open_member(path: Path, name: str) -> Iterator[IO[bytes]]:
    """Open one member of a zip as a stream. Raises DataError as ``find`` does."""
    with open_zip(path) as archive, archive.open(find(archive, name)) as stream:
        yield stream


def find(archive: zipfile.ZipFile, name: str) -> zipfile.ZipInfo:
    """A member by name. Raises DataError if it is missing, repeated, encrypted, oddly compressed or no regular file."""
    try:
        member = archive.getinfo(name)
    except KeyError:
        raise DataError(f"{archive.filename} has no member {name}") from None
    if member.flag_bits & 1:
        raise DataError(f"{archive.filename}: member {name} is encrypted")
    if member.compress_type not in _COMPRESSIONS:
        raise DataError(f"{archive.filename}: member {name} has the unknown compression {member.compress_type}")
    if stat.S_IFMT(member.external_attr >> 16) not in (0, stat.S_IFREG):
        raise DataError(f"{archive.filename}: member {name} is a link or a special file")
    if isinstance(archive, _Zip) and name in archive.repeated:
        raise DataError(f"{archive.filename} contains {name} twice")
    return member


class _Zip(zipfile.ZipFile):
    """A zip in which a damaged member raises DataError with its name."""

    @cached_property
    def repeated(self) -> frozenset[str]:
        """Names of more than one member."""
        if len(self.NameToInfo) == len(self.filelist):
            return frozenset()
        counts = Counter(member.filename for member in self.filelist)
        return frozenset(name for name, count in counts.items() if count > 1)

    def open(self, name: str | zipfile.ZipInfo, *arguments: Any, **options: Any) -> IO[bytes]:
        member = name.filename if isinstance(name, zipfile.ZipInfo) else name
        with reading(str(self.filename), member):
            stream = super().open(name, *arguments, **options)
        return io.BufferedReader(_Member(stream, str(self.filename), member))


class _Member(io.RawIOBase):
    """The content of a member."""

    def __init__(self, stream: IO[bytes], archive: str, name: str) -> None:
        self._stream, self._archive, self._name = stream, archive, name

    def readinto(self, buffer: Any) -> int:
        with reading(self._archive, self._name):
            data = self._stream.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self._stream.close()
        super().close()


def move_members(source: zipfile.ZipFile, target: Path, names: Mapping[str, str]) -> int:
    """Write a new zip of members of ``source``, old name to new name; returns their number.

    Copies the compressed bytes, in the order of ``names``, because that of ``source`` may reveal labels. Raises
    DataError if a member is missing or damaged.
    """
    members = [(find(source, old), new) for old, new in names.items()]  # check all of them before writing
    with ZipWriter(target) as writer:
        for member, new in members:
            writer.move(source, member, new)
    return len(members)


class _Info(zipfile.ZipInfo):
    """A member whose header Python 3.11.0 to 3.11.3 write as later versions do."""

    def FileHeader(self, zip64: bool | None = None) -> bytes:  # noqa: N802
        if not zip64:
            return super().FileHeader(zip64)
        self.create_version = self.extract_version = zipfile.ZIP64_VERSION
        header = super().FileHeader(zip64)
        return header[:_SIZES] + b"\xff" * 8 + header[_SIZES + 8 :]


class ZipWriter:
    """Writes a zip; a context manager. Raises DataError if the file exists.

    Members are deflated unless ``stored``, and may be larger than 4 GiB.
    """

    def __init__(self, path: Path, *, stored: bool = False) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._compression = zipfile.ZIP_STORED if stored else zipfile.ZIP_DEFLATED
        try:
            self._zip = zipfile.ZipFile(path, "x", self._compression)
        except FileExistsError:
            raise DataError(f"{path} already exists") from None

    def __enter__(self) -> ZipWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self._zip.close()

    def add(self, name: str, data: bytes) -> None:
        """Add a member with this content, or a folder if the name ends in a slash."""
        self._zip.writestr(self._info(name), data)

    def add_file(self, name: str, source: Path) -> None:
        """Add a member with a file's content."""
        with source.open("rb") as reader, self.open(name) as writer:
            shutil.copyfileobj(reader, writer, _BLOCK)

    def open(self, name: str) -> IO[bytes]:
        """Add a member of any size, written as a stream. Close it before the next one."""
        return self._zip.open(self._info(name), "w", force_zip64=True)

    def move(self, source: zipfile.ZipFile, member: zipfile.ZipInfo, name: str) -> None:
        """Add a member of another zip under a new name, copying its compressed bytes."""
        info = self._info(name)
        info.compress_type = member.compress_type
        info.CRC, info.compress_size, info.file_size = member.CRC, member.compress_size, member.file_size
        reader, writer = source.fp, self._zip.fp
        assert reader is not None and writer is not None  # both archives are open
        reader.seek(member.header_offset)
        header = reader.read(_LOCAL_HEADER)
        if len(header) != _LOCAL_HEADER or header[:4] != b"PK\x03\x04":
            raise damaged(str(source.filename), "it has no header", member.filename)
        reader.seek(int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little"), 1)
        writer.seek(self._zip.start_dir)
        info.header_offset = self._zip.start_dir
        writer.write(info.FileHeader())
        left = member.compress_size
        while left:
            block = reader.read(min(left, _BLOCK))
            if not block:
                raise damaged(str(source.filename), "it is cut off", member.filename)
            writer.write(block)
            left -= len(block)
        self._zip.filelist.append(info)
        self._zip.NameToInfo[info.filename] = info
        self._zip.start_dir = writer.tell()
        self._zip.comment = b""  # as a side effect, this makes the directory be written

    def _info(self, name: str) -> zipfile.ZipInfo:
        info = _Info(safe_name(name), _TIME)
        info.create_system = 3  # Unix, wherever this runs
        info.external_attr = (stat.S_IFDIR | 0o755) << 16 | 0x10 if name.endswith("/") else _MODE
        info.compress_type = self._compression
        return info
