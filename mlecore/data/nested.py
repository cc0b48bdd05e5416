"""Limits how far the archives inside a download may unpack."""

from __future__ import annotations

import zipfile
from pathlib import Path

from mlecore.errors import DataError
from mlecore.model.facts import Facts
from mlecore.util.units import show_size
from mlecore_toolkit.archives import SMALL, archive_kind, reading, refuse_zip_bomb

_RATIO = 100  # unpacked size / download; deflate packs a whole data set to a thirtieth at best


def refuse_nested_bombs(raw: Path, facts: Facts, archive: Path) -> None:
    """Raises DataError for archives that would fill the disk when a plugin unpacks them. Ignores damaged zips.

    ``raw``: the folder to which ``archive``, the download, was unpacked. Its size comes from the facts, if they name
    it.
    """
    total = 0
    for path in sorted(raw.rglob("*.zip")):
        if archive_kind(path) != "zip":
            continue
        try:
            with reading(path), zipfile.ZipFile(path) as nested:
                members = nested.infolist()
        except DataError:
            continue
        refuse_zip_bomb(path, members)
        total += sum(info.file_size for info in members)
    size = archive.stat().st_size if facts.size_gb is None else facts.size_gb * 1e9
    if total > max(SMALL, _RATIO * size):
        known = "has" if facts.size_gb is None else "is known to have"
        raise DataError(
            f"{facts.id}: the archives within the download would unpack to {show_size(total)}, but the download "
            f"{known} {show_size(size)}: a zip bomb; nothing was prepared",
            fix="If it is not one, unpack it yourself and use --raw DIR",
        )
