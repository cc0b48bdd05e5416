"""Estimate the disk and time that large synthetic data take, from a trial of size 1."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from mlecore.errors import DataError
from mlecore.util import files
from mlecore.util.units import show_duration, show_size

if TYPE_CHECKING:
    from mlecore.model.competition import Competition

LARGE = 10.0  # from this size on, a trial of size 1 costs little compared with the data
_BLOCK = 4096  # bytes: the least that a file takes on most file systems


def estimate(competition: Competition, folder: Path, seed: int, size: float) -> str:
    """The disk and time that data of this size will take, in words, assuming that both grow with the size.

    Raises DataError, with the largest size that fits, if the disk of ``folder`` is too small.
    """
    trial = Path(tempfile.mkdtemp(dir=folder, prefix=".", suffix=".tmp"))  # swept after a kill
    try:
        for name in ("raw", "public", "private"):
            (trial / name).mkdir()
        start = time.monotonic()
        competition.make_raw(trial / "raw", seed=seed, size=1.0)
        competition.prepare(trial / "raw", trial / "public", trial / "private")
        seconds, taken = time.monotonic() - start, _taken(trial)
    finally:
        files.remove(trial)
    free = shutil.disk_usage(folder).free
    if taken * size > free:
        fits = 0.9 * free / taken
        raise DataError(
            f"synthetic data of {competition.id} with --size {size:g} take about {show_size(taken * size)}, and "
            f"{folder} has {show_size(free)} free",
            fix=f"--size {f'{fits:.0f}' if fits >= 1 else f'{fits:.1g}'} would fit. Or name another directory: --data",
        )
    return f"creating about {show_size(taken * size)} in about {show_duration(seconds * size)}"


def _taken(folder: Path) -> int:
    """Bytes on the disk. Links count as files, because most become copies (``file_order.py``)."""
    sizes = (os.lstat(f"{place}/{name}").st_size for place, _, names in os.walk(folder) for name in names)
    return sum(-(-size // _BLOCK) * _BLOCK for size in sizes)
