"""Archives of any kind that Kaggle uses (zip, tar, 7z): what is in them, and members streamed to files.

The kind is recognised by the first bytes, not by the name. No member can leave the folder that it is unpacked to;
links and devices are rejected.
"""

from __future__ import annotations

import os
import shutil
import tarfile
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from gzip import GzipFile
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

from mlecore.archives import Kind, archive_kind, reading, refuse_bomb
from mlecore.errors import DataError
from mlecore.prepare.files import link_file
from mlecore.prepare.paths import file_name, safe_name
from mlecore.prepare.tables import new_file
from mlecore.prepare.zips import find, open_zip

if TYPE_CHECKING:
    from typing import Self

    from py7zr import SevenZipFile

_BLOCK = 1 << 20
_HEADERS = (  # of the member that follows
    *(tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE),
    *(tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK),
)


def members(archive: Path) -> list[str]:
    """Names of the files in an archive, in its order, folders left out."""
    kind = _kind(archive)
    if kind == "zip":
        with open_zip(archive) as source:
            return [member.filename for member in source.infolist() if not member.is_dir()]
    if kind == "tar":
        with _open_tar(archive) as source:
            return [member.name for member in _tar_members(archive, source) if not member.isdir()]
    with _open_7z(archive) as source:
        return [member.filename for member in source.list() if not member.is_directory]


def extract(archive: Path, into: Path, names: Mapping[str, str] | None = None) -> int:
    """Stream members to new files below folder ``into``; returns how many.

    ``names`` says which, and what each becomes: member name to relative path; None: all, under their own names. Those
    of a zip are written in the order of ``names``: file times in the archive's order may reveal the labels. Memory does
    not grow with the archive. Raises DataError when one is missing, damaged, a link or a device, or would be outside
    of ``into``, or when its file already exists.
    """
    into.mkdir(parents=True, exist_ok=True)
    kind = _kind(archive)
    if kind == "zip":
        return _extract_zip(archive, into, names)
    if kind == "tar":
        return _extract_tar(archive, into, names)
    return _extract_7z(archive, into, names)


def write_7z(target: Path, files: Mapping[str, bytes]) -> None:
    """A new 7z archive of members with this content, py7zr's default compression; their time stamps are fixed."""
    import py7zr

    with new_file(target) as stream, py7zr.SevenZipFile(stream, "w") as archive:
        for name, data in files.items():
            archive.writestr(data, safe_name(name))
        _fix_times(archive)


def pack_7z(source: Path, target: Path, names: Mapping[str, str]) -> None:
    """A new 7z archive of files below folder ``source``, old name to new name, in the order of ``names``.

    They are stored as they are, for files that are compressed already, such as pictures; their times are not kept.
    Raises DataError if one is missing, or if the target already exists.
    """
    import py7zr

    stored = [{"id": py7zr.FILTER_COPY}]
    with new_file(target) as stream, py7zr.SevenZipFile(stream, "w", filters=stored) as archive:
        for old, new in names.items():
            path = source / safe_name(old)
            try:
                with path.open("rb") as reader:
                    archive.writef(reader, safe_name(new))
            except FileNotFoundError:
                raise DataError(f"{path} is missing") from None
        _fix_times(archive)


def _fix_times(archive: SevenZipFile) -> None:
    """The same input must give the same bytes."""
    from py7zr.helpers import ArchiveTimestamp

    for member in archive.files.files_list:
        for time in ("creationtime", "lastwritetime", "lastaccesstime"):
            member[time] = ArchiveTimestamp.from_datetime(0)


def write_tar(source: Path, target: Path, names: Mapping[str, str], *, compressed: bool = False) -> None:
    """A new tar of files below folder ``source``, old name to new name, in the order of ``names``.

    ``compressed``: with gzip, little and fast. The target's name decides nothing, as a published ``.tar.gz`` is none.

    Times, owners and modes are left out, so that the same input gives the same bytes. Raises DataError when
    one is missing, and when the target already exists.
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
            archive.members = []  # type: ignore[attr-defined]  # else it remembers all


def _gzipped(file: IO[bytes]) -> GzipFile:
    """For writing; without a name and a time, so that the same input gives the same bytes."""
    return GzipFile("", "wb", fileobj=file, mtime=0, compresslevel=1)


def _kind(archive: Path) -> Kind:
    kind = archive_kind(archive)
    if kind is None:
        raise DataError(f"{archive} is neither a zip nor a tar nor a 7z archive")
    return kind


def _extract_zip(archive: Path, into: Path, names: Mapping[str, str] | None) -> int:
    with open_zip(archive) as source:
        if names is None:
            names = {member.filename: member.filename for member in source.infolist() if not member.is_dir()}
        for member, new in [(find(source, old), new) for old, new in names.items()]:
            with source.open(member) as reader:
                _save(reader, into, new)
    return len(names)


def _extract_tar(archive: Path, into: Path, names: Mapping[str, str] | None) -> int:
    found: set[str] = set()
    with _open_tar(archive) as source:
        for member in _tar_members(archive, source):
            if member.isdir() or (names is not None and member.name not in names):
                continue
            reader = source.extractfile(member) if member.isreg() else None
            if reader is None:
                raise DataError(f"{archive}: member {member.name} is not a regular file")
            if member.name in found:
                raise DataError(f"{archive} holds {member.name} twice")
            _save(reader, into, names[member.name] if names else member.name)
            found.add(member.name)
    _ensure_all(archive, found, names)
    return len(found)


def _extract_7z(archive: Path, into: Path, names: Mapping[str, str] | None) -> int:
    with _open_7z(archive) as source:
        files = [member for member in source.list() if not member.is_directory]
    links = {member.filename: not member.is_file for member in files}
    counts = Counter(member.filename for member in files)
    _ensure_all(archive, set(links), names)
    renamed = {name: name for name in links} if names is None else names
    for old, new in renamed.items():
        if safe_name(old) and links[old]:
            raise DataError(f"{archive}: member {old} is not a regular file")
        if counts[old] > 1:
            raise DataError(f"{archive} holds {old} twice")
        safe_name(new)
    with tempfile.TemporaryDirectory(dir=into) as folder, _open_7z(archive) as source:
        source.extract(path=folder, targets=list(renamed))
        for old, new in renamed.items():
            link_file(Path(folder, old), into / new)
    return len(renamed)


def _save(reader: IO[bytes], into: Path, name: str) -> None:
    target = into / file_name(name)
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        with target.open("xb") as writer:
            shutil.copyfileobj(reader, writer, _BLOCK)
    except FileExistsError:
        raise DataError(f"{target} already exists") from None


def _ensure_all(archive: Path, there: set[str], names: Mapping[str, str] | None) -> None:
    missing = [name for name in names or () if name not in there]
    if missing:
        raise DataError(f"{archive} has no member {missing[0]} ({len(missing)} are missing)")


def _tar_members(archive: Path, source: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
    """Its members; one that would make the archive a bomb is rejected before it is read."""
    total = 0
    for member in source:
        total += member.size
        refuse_bomb(archive, total)
        yield member


@contextmanager
def _open_tar(archive: Path) -> Iterator[tarfile.TarFile]:
    """In one pass, whatever the compression. All of it is read, as the checksum is at its end."""
    with reading(archive), _uncompressed(archive) as stream:
        with tarfile.open(fileobj=stream, mode="r|", bufsize=_BLOCK, tarinfo=_TarInfo) as source:
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
            return cast("IO[bytes]", opened(archive))
    return archive.open("rb")


class _TarInfo(tarfile.TarInfo):
    """A member's header; tarfile reads long names and the like into memory, whatever size they claim to have."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        info = super().frombuf(buf, encoding, errors)
        if info.type in _HEADERS and info.size > _BLOCK:
            raise tarfile.TarError(f"a header has {info.size:,} bytes")
        return info


@contextmanager
def _open_7z(archive: Path) -> Iterator[SevenZipFile]:
    try:
        import py7zr
    except ImportError:
        raise DataError(f"{archive} is a 7z archive", fix="Install py7zr to read it.") from None
    with reading(archive), py7zr.SevenZipFile(archive) as source:
        if source.needs_password():
            raise DataError(f"{archive} is encrypted")
        refuse_bomb(archive, sum(member.uncompressed for member in source.list()))
        yield source
