"""The folders of groups and runs. A group has group.json, and a folder with run.json for each run that has begun."""

from __future__ import annotations

import os
from pathlib import Path

RECORD = "run.json"
PLAN = "plan.toml"
GROUP = "group.json"
FINDINGS = "findings"  # folder of a run: a file per detector


def is_group(folder: Path) -> bool:
    return (folder / GROUP).is_file()


def is_run(folder: Path) -> bool:
    return (folder / RECORD).is_file() and not is_group(folder)


def groups(runs: Path) -> list[Path]:
    """Folders of all groups, oldest name first."""
    if not runs.is_dir():
        return []
    return [runs / name for name in inner_folders(runs) if is_group(runs / name)]


def inner_folders(folder: Path) -> list[str]:
    """Names of its folders, sorted, without links and hidden ones."""
    with os.scandir(folder) as entries:
        names = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
    return sorted(name for name in names if not name.startswith("."))
