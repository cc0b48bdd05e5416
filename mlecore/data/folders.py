"""Folders as a whole: replaced at once, removed whatever their modes, made read-only; and room for them on the disk."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mlecore.errors import DataError


def remove(path: Path) -> None:
    """Remove a file or a folder, read-only folders inside it included; nothing there is fine."""
    if path.is_symlink() or not path.is_dir():
        path.unlink(missing_ok=True)
        return
    for folder, _, _ in os.walk(path):  # top down: each one is opened before it is listed
        os.chmod(folder, 0o700)  # noqa: PTH101  (a string from os.walk)
    shutil.rmtree(path)


def replace(new: Path, target: Path) -> None:
    """Put a finished folder in the place of another one beside it; a kill in between is mended by recover()."""
    old = target.with_name(target.name + ".old")
    remove(old)
    if target.exists():
        target.rename(old)
    new.rename(target)
    remove(old)


def recover(target: Path) -> None:
    """Clean up after a killed process: finish what replace() began, remove what was being built."""
    old = target.with_name(target.name + ".old")
    if old.exists() and not target.exists():
        old.rename(target)
    remove(old)
    remove(target.with_name(target.name + ".partial"))


def link(source: Path, target: Path) -> None:
    """Another name for the same file, or a copy where the file system has no such thing."""
    try:
        target.hardlink_to(source)
    except OSError:
        shutil.copyfile(source, target)


def freeze(root: Path) -> None:
    """Make everything below ``root``, and it, read-only."""
    for folder, _, files in os.walk(root, topdown=False):
        for name in files:
            path = Path(folder, name)
            path.chmod(path.stat().st_mode & ~0o222)
        os.chmod(folder, 0o555)  # noqa: PTH101


def require(folder: Path, needed: int, what: str) -> None:
    """Raise DataError with the sizes when the disk of ``folder`` has less than ``needed`` bytes left."""
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise DataError(
            f"not enough room in {folder} for {what}: {human(needed)} needed, {human(free)} free",
            fix=f"Free {human(needed - free)}, or name another place with --data",
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
                    fix="Free some room, or name another place with --data, and try again",
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
