"""Disk space: check it before a large step starts, and explain a full disk."""

from __future__ import annotations

import errno
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mlecore.errors import DataError
from mlecore.util.units import show_size


def require(folder: Path, needed: int, what: str, elsewhere: str = "name another directory with --data") -> None:
    """Raise DataError, with both sizes, if the disk of ``folder`` has less than ``needed`` bytes free."""
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise DataError(
            f"not enough room in {folder} for {what}: {show_size(needed)} needed, {show_size(free)} free",
            fix=f"Free {show_size(needed - free)}, or {elsewhere}",
        )


@contextmanager
def full_disk(folder: Path, what: str) -> Iterator[None]:
    """Turn "no space left" and "quota exceeded", raised at any depth, into a DataError that says so."""
    try:
        yield
    except Exception as error:
        cause: BaseException | None = error
        while cause is not None:
            if isinstance(cause, OSError) and cause.errno in (errno.ENOSPC, errno.EDQUOT):
                free = show_size(shutil.disk_usage(folder).free)
                raise DataError(
                    f"the disk of {folder} ran full while {what} ({free} free now); unfinished files were removed",
                    fix="Free some room, or name another directory with --data, and try again",
                ) from error
            cause = cause.__cause__ or cause.__context__
        raise
