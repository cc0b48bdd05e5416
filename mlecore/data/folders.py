"""Room on the disk: enough of it before something large begins, and words for a disk that is full."""

from __future__ import annotations

import errno
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mlecore.errors import DataError


def require(folder: Path, needed: int, what: str) -> None:
    """Raise DataError with the sizes when the disk of ``folder`` has less than ``needed`` bytes left."""
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise DataError(
            f"not enough room in {folder} for {what}: {human(needed)} needed, {human(free)} free",
            fix=f"Free {human(needed - free)}, or name another directory with --data",
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
                free = human(shutil.disk_usage(folder).free)
                raise DataError(
                    f"the disk of {folder} ran full while {what} ({free} free now); what was begun has been removed",
                    fix="Free some room, or name another directory with --data, and try again",
                ) from error
            cause = cause.__cause__ or cause.__context__
        raise


def human(size: float) -> str:
    """12345678 -> "12.3 MB"."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.0f} bytes" if unit == "bytes" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.2f} TB"
