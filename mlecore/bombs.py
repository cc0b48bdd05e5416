"""Archive bombs: refused by the sizes that they declare, before they are unpacked."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from pathlib import Path

from mlecore.errors import DataError
from mlecore.units import show_size

RATIO = 250  # deflate reaches 1032; no data set as a whole comes close
SMALL = 1 << 30  # bytes; smaller ones do no harm


def refuse_bomb(archive: Path, declared: int) -> None:
    """Raises DataError if ``declared``, the bytes of all members, is too much for an archive of this size."""
    size = archive.stat().st_size
    if declared > max(SMALL, RATIO * size):
        raise DataError(
            f"{archive} has {show_size(size)} and would unpack to {show_size(declared)}: a bomb; nothing of it was "
            "unpacked",
            fix="If it is not one, unpack it yourself and use --raw DIR",
        )


def refuse_zip_bomb(archive: Path, members: Sequence[zipfile.ZipInfo]) -> None:
    """Raises DataError for members that share bytes of the archive, that lie beyond its end, or are a bomb."""
    end = 0
    for info in sorted(members, key=lambda info: info.header_offset):
        if info.header_offset < end:
            raise DataError(f"{archive}: the members overlap, as in a zip bomb; nothing was unpacked")
        end = info.header_offset + info.compress_size
    if end > archive.stat().st_size:
        raise DataError(
            f"{archive} is truncated or damaged: it ends before its last member does",
            fix="Remove it, and have it downloaded again.",
        )
    refuse_bomb(archive, sum(info.file_size for info in members))
