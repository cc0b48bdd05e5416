"""Lists and unpacks archives of all kinds that Kaggle uses (zip, tar, 7z).

The first bytes decide the kind, not the name. No member can leave the target folder; links and devices are rejected.
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
from mlecore_toolkit.prepare.tables import new_file
from mlecore_toolkit.prepare.tars import content, open_tar, tar_members
from mlecore_toolkit.prepare.zips import find, open_zip
from mlecore_toolkit.safe_names import safe_name
from mlecore_toolkit.zip_members import is_small, open_members

if TYPE_CHECKING:
    from py7zr import FileInfo, SevenZipFile


def members(archive: Path) -> list[str]:
    """Names of the files in an archive, in its order, without folders."""
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
    """Stream members to new files below folder ``into``; returns their number.

    ``names`` maps members to relative paths; None: all members, under their own names. Members of a zip are written in
    the order of ``names``, because file times in the archive's order may reveal labels. Memory does not grow with the
    archive. Raises DataError if a member is missing, damaged, a link or a device, or would leave ``into``, and if its
    file already exists.
    """
    into.mkdir(parents=True, exist_ok=True)
    kind = _kind(archive)
    if kind == "zip":
        return _extract_zip(archive, into, names)
    if kind == "tar":
        return _extract_tar(archive, into, names)
    return _extract_7z(archive, into, names)


def write_7z(target: Path, files: Mapping[str, bytes | Path], *, stored: bool = False) -> None:
    """Write a 7z archive of members with this content, or that of a file, with fixed times.

    Compressed as py7zr does by default; ``stored``: uncompressed, for files that are compressed already, such as
    pictures. Raises DataError if a file is missing, or if the target already exists.
    """
    import py7zr

    filters = [{"id": py7zr.FILTER_COPY}] if stored else None
    with new_file(target) as stream, py7zr.SevenZipFile(stream, "w", filters=filters) as archive:
        for name, source in files.items():
            if isinstance(source, bytes):
                archive.writestr(source, safe_name(name))
                continue
            try:
                with source.open("rb") as reader:
                    archive.writef(reader, safe_name(name))
            except FileNotFoundError:
                raise DataError(f"{source} is missing") from None
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
    """The archive with the list of its members and folders."""
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
