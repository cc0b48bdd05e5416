"""The members of a zip, checked before anything is written."""

from __future__ import annotations

import os
import stat
import struct
import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from mlecore.errors import DataError
from mlecore_toolkit.archives import reading, refuse_zip_bomb, require_zip
from mlecore_toolkit.safe_names import require_holdable

Member = tuple[zipfile.ZipInfo, str]  # and its path below the target folder


def contents(archive: Path) -> tuple[list[Member], set[str]]:
    """The files of an archive, and all folders that they need or that it lists; "" is the topmost.

    Raises DataError for an archive that is damaged, whose members would leave the folder, are links, have the same path
    or inflate too far.
    """
    try:
        require_zip(archive)
        with reading(archive):
            with zipfile.ZipFile(archive) as opened:
                members = [info for info in opened.infolist() if not info.is_dir()]
                folders = [info.filename for info in opened.infolist() if info.is_dir()]
            if len(members) + len(folders) != _declared(archive):
                raise zipfile.BadZipFile("its directory is incomplete")
    except OSError as error:
        raise DataError(f"{archive} cannot be read: {error.strerror or error}") from None
    if (
        len(members) == 1
        and (inner := members[0].filename).endswith(".zip")
        and archive.stem.startswith(Path(inner).stem)
    ):
        raise DataError(f"{archive} has nothing in it but the zip {inner}", fix="Unpack it once, and use that zip.")
    refuse_zip_bomb(archive, members)
    paths = _paths(archive, members)
    created = _folders([*paths, *(f"{_safe(archive, name)}/" for name in folders)])
    if clash := created.intersection(paths):
        raise DataError(f"{archive}: {min(clash)!r} is a file and a folder; nothing was unpacked")
    return list(zip(members, paths, strict=True)), created


def _declared(archive: Path) -> int:
    """Number of members by the end record: zipfile does not notice a directory that was cut off."""
    with archive.open("rb") as file:
        file.seek(-min(archive.stat().st_size, (1 << 16) + 128), os.SEEK_END)
        tail = file.read()
    (count,) = struct.unpack_from("<H", tail, tail.rfind(b"PK\5\6") + 10)
    wide = tail.rfind(b"PK\6\6")  # zip64
    if count == 0xFFFF and wide >= 0:
        (count,) = struct.unpack_from("<Q", tail, wide + 32)
    return int(count)


def _paths(archive: Path, members: Sequence[zipfile.ZipInfo]) -> list[str]:
    """The target path of each member. Rejects paths outside the folder, and two members with the same path."""
    paths: dict[str, None] = {}
    for info in members:
        kind = stat.S_IFMT(info.external_attr >> 16)
        if kind not in (0, stat.S_IFREG):
            raise DataError(f"{archive}: {info.filename!r} is a link or a special file; nothing was unpacked")
        if info.flag_bits & 1:
            raise DataError(f"{archive}: {info.filename!r} is encrypted; nothing was unpacked")
        path = _safe(archive, info.filename)
        if path in paths:
            raise DataError(f"{archive} contains {info.filename!r} twice; nothing was unpacked")
        paths[path] = None
    return list(paths)


def _folders(paths: Iterable[str]) -> set[str]:
    """Every folder on the way to these paths, the topmost ("") included."""
    found = {""}
    for folder in {path.rpartition("/")[0] for path in paths}:
        while folder not in found:
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return found


def _safe(archive: Path, name: str) -> str:
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if not parts or name.startswith("/") or ".." in parts:
        raise DataError(f"{archive}: the member {name!r} leads out of the folder; nothing was unpacked")
    path = "/".join(parts)
    require_holdable(path, f"{archive}: nothing was unpacked: ")
    return path
