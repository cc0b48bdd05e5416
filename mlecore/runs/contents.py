"""Checks the contents of a group's folder, so that no controller writes through a link."""

from __future__ import annotations

import stat
from pathlib import Path

from mlecore.errors import DataError

_OF_GROUP = {
    "files": (
        "group.json",
        "plan.toml",
        "cancelled.json",
        "events.jsonl",
        "controller.lock",
        "controller.lock.exclusive",
        "controller.lock.holder",
        "extensions.log",
        "waiting.json",
    ),
    "folders": (".cache", "builds", "requests", "requests/cancel", "requests/force", "requests/retry"),
}
_OF_RUN = {
    "files": ("run.json", ".run.json.previous", "grade.json", "grade_error.json", "snapshots.json", ".secrets.json"),
    "folders": ("", "attempts", "code", "code_snapshots", "findings", "logs", "snapshots", "submission"),
}


def check_group(folder: Path) -> None:
    """Raises DataError with the names of entries that no controller creates. Skips the runs' folders."""
    _check(folder, **_OF_GROUP)


def check_run(folder: Path) -> None:
    """The same for the folder of one run."""
    _check(folder, **_OF_RUN)


def _check(folder: Path, files: tuple[str, ...], folders: tuple[str, ...]) -> None:
    for names, is_right, expected in ((folders, stat.S_ISDIR, "folder"), (files, stat.S_ISREG, "file")):
        for name in names:
            try:
                mode = (folder / name).lstat().st_mode
            except (FileNotFoundError, NotADirectoryError):
                continue
            if not is_right(mode):
                what = "a symbolic link" if stat.S_ISLNK(mode) else f"no {expected}"
                raise DataError(
                    f"{folder / name} is {what}; mlecore did not create it, and does not write there",
                    fix=f"Put the {expected} itself there, or remove it.",
                )
