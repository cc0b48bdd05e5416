"""Archives of any kind that Kaggle uses (zip, tar, 7z): what is in them, and members streamed to files.

The kind is recognised by the first bytes, not by the name. No member can leave the folder that it is unpacked to;
links and devices are rejected.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from mlecore.errors import DataError
from mlecore.util.file_kinds import describe
from mlecore_toolkit.archives import Kind, archive_kind, reading, refuse_bomb
from mlecore_toolkit.prepare.files import NewFiles
from mlecore_toolkit.prepare.paths import safe_name
from mlecore_toolkit.prepare.tables import new_file
from mlecore_toolkit.prepare.tars import content, open_tar, tar_members
from mlecore_toolkit.prepare.zips import find, open_zip
from mlecore_toolkit.zip_members import is_small, open_members

if TYPE_CHECKING:
    from py7zr import FileInfo, SevenZipFile


def members(archive: Path) -> list[str]:
    """Names of the files in an archive, in its order, folders left out."""
    kind = _kind(archive)
    if kind == "zip":
        with open_zip(archive) as source:
            return [member.filename for member in source.infolist() if not member.is_dir()]
    if kind == "tar":
        with open_tar(archive) as source:
            return [member.name for member in tar_members(archive, source) if not member.isdir()]
    with _open_7z(archive) as (_, found):
        return [member.filename for member in found if not member.is_directory]


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


def _kind(archive: Path) -> Kind:
    kind = archive_kind(archive)
    if kind is None:
        what, fix = describe(archive)
        raise DataError(f"{archive} is neither a zip nor a tar nor a 7z archive: it is {what}", fix=fix)
    return kind


def _extract_zip(archive: Path, into: Path, names: Mapping[str, str] | None) -> int:
    with open_zip(archive) as source:
        if names is None:
            names = {member.filename: member.filename for member in source.infolist() if not member.is_dir()}
        chosen = [(find(source, old), new) for old, new in names.items()]
    files = NewFiles(into, archive)
    with open_members(archive) as opened:
        for member, new in chosen:
            files.write(new, [opened.content(member)] if is_small(member) else opened.pieces(member))
    return len(names)


def _extract_tar(archive: Path, into: Path, names: Mapping[str, str] | None) -> int:
    found: set[str] = set()
    files = NewFiles(into, archive)
    with open_tar(archive) as source:
        for member in tar_members(archive, source):
            if member.isdir() or (names is not None and member.name not in names):
                continue
            if not member.isreg():
                raise DataError(f"{archive}: member {member.name} is not a regular file")
            if member.name in found:
                raise DataError(f"{archive} holds {member.name} twice")
            files.write(names[member.name] if names else member.name, content(source, member))
            found.add(member.name)
    _ensure_all(archive, found, names)
    return len(found)


def _extract_7z(archive: Path, into: Path, names: Mapping[str, str] | None) -> int:
    from mlecore_toolkit.prepare.seven_zip import Writers

    with _open_7z(archive) as (source, found):
        files = [member for member in found if not member.is_directory]
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
        folder = into.absolute()
        source.extract(path=folder, targets=list(renamed), factory=Writers(folder, archive, renamed))
    return len(renamed)


def _ensure_all(archive: Path, there: set[str], names: Mapping[str, str] | None) -> None:
    missing = [name for name in names or () if name not in there]
    if missing:
        raise DataError(f"{archive} has no member {missing[0]} ({len(missing)} are missing)")


@contextmanager
def _open_7z(archive: Path) -> Iterator[tuple[SevenZipFile, list[FileInfo]]]:
    """The archive, and its members and folders."""
    try:
        import py7zr
    except ImportError:
        raise DataError(f"{archive} is a 7z archive", fix="Install py7zr to read it.") from None
    with reading(archive), py7zr.SevenZipFile(archive) as source:
        if source.needs_password():
            raise DataError(f"{archive} is encrypted")
        found = source.list()
        refuse_bomb(archive, sum(member.uncompressed for member in found))
        yield source, found
