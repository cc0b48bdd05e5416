"""Zip archives: members read as streams, moved from archive to archive without inflating them, and written.

The same input gives the same bytes: fixed time stamps and modes, members in the order given.
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
from types import TracebackType
from typing import IO, Any

from mlecore.errors import DataError
from mlecore_toolkit.archives import damaged, reading, refuse_zip_bomb, require_zip
from mlecore_toolkit.prepare.paths import safe_name

_TIME = (1980, 1, 1, 0, 0, 0)
_MODE = (stat.S_IFREG | 0o644) << 16
_LOCAL_HEADER = 30  # bytes before the name
_SIZES = 18  # where a header has both sizes, which are 0xffffffff if 64 bits of each follow
_BLOCK = 1 << 20
_COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)


@contextmanager
def open_zip(path: Path) -> Iterator[zipfile.ZipFile]:
    """A zip for reading. Raises DataError if it is a bomb, missing or damaged; perhaps only when a member is read.

    It must begin as a zip does: one behind other bytes, such as a program that unpacks itself, is rejected.
    """
    require_zip(path)
    with reading(path):
        archive = _Zip(path)
    with archive:
        refuse_zip_bomb(path, archive.infolist())
        yield archive


@contextmanager
def open_member(path: Path, name: str) -> Iterator[IO[bytes]]:
    """One member of a zip as a stream; DataError if it is missing."""
    with open_zip(path) as archive, archive.open(find(archive, name)) as stream:
        yield stream


def find(archive: zipfile.ZipFile, name: str) -> zipfile.ZipInfo:
    """A member by name. DataError if it is missing or there twice, encrypted or oddly packed, or not a regular file."""
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
    """A zip whose members' damage is a DataError that names them."""

    @cached_property
    def repeated(self) -> frozenset[str]:
        """Names that several members have."""
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
    """Write a new zip of members of ``source``, old name to new name, compressed as they are; returns how many.

    Nothing is inflated: their compressed bytes are copied, in the order of ``names``: that of ``source`` may reveal the
    labels. Raises DataError when one is missing or what is read of the source is damaged.
    """
    members = [(find(source, old), new) for old, new in names.items()]  # all of them, before anything is written
    with ZipWriter(target) as writer:
        for member, new in members:
            writer.move(source, member, new)
    return len(members)


class _Info(zipfile.ZipInfo):
    """A member whose header Python 3.11.0 to 3.11.3 writes as later versions do."""

    def FileHeader(self, zip64: bool | None = None) -> bytes:  # noqa: N802
        if not zip64:
            return super().FileHeader(zip64)
        self.create_version = self.extract_version = zipfile.ZIP64_VERSION
        header = super().FileHeader(zip64)
        return header[:_SIZES] + b"\xff" * 8 + header[_SIZES + 8 :]


class ZipWriter:
    """A zip being written, as a context manager; the file must not exist yet.

    Members are deflated unless ``stored``. Sizes beyond 4 GiB are fine.
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

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._zip.close()

    def add(self, name: str, data: bytes) -> None:
        """A member with this content; a name that ends in a slash is a folder."""
        self._zip.writestr(self._info(name), data)

    def add_file(self, name: str, source: Path) -> None:
        """A member with a file's content."""
        with source.open("rb") as reader, self.open(name) as writer:
            shutil.copyfileobj(reader, writer, _BLOCK)

    def open(self, name: str) -> IO[bytes]:
        """A member to write to as a stream, of any size; close it before the next one."""
        return self._zip.open(self._info(name), "w", force_zip64=True)

    def move(self, source: zipfile.ZipFile, member: zipfile.ZipInfo, name: str) -> None:
        """A member of another zip under a new name, its compressed bytes copied as they are."""
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
