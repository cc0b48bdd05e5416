"""Runs and groups as the command line names them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mlecore.errors import UsageError

if TYPE_CHECKING:
    from mlecore.model.record import RunRecord


def group_folder(runs: Path, name: str) -> Path:
    """A group by name or path. Raises UsageError."""
    for folder in (runs / name, Path(name)):
        if folder.is_dir():
            return folder
    raise UsageError(f"there is no group {name!r} in {runs}", fix="To see them: mlecore runs list")


def one_run(runs: Path, name: str) -> RunRecord:
    """A run by GROUP/RUN or path; of a group of one run that group's name will do. Raises UsageError."""
    from mlecore.runs.folders import is_group
    from mlecore.runs.store import open_group, planned_record, recover_record
    from mlecore.runs.waiting import read_reasons, with_reason

    for folder in (runs / name, Path(name)):
        if is_group(folder):
            plan = open_group(folder).plan
            first = next(plan.runs()).name
            if len(plan) > 1:
                raise UsageError(f"{name} is a group of {len(plan)} runs; name one of them, such as {name}/{first}")
            folder /= first
        try:
            return with_reason(recover_record(folder)[0], read_reasons(folder.parent))
        except (FileNotFoundError, NotADirectoryError):
            if is_group(folder.parent):
                group = open_group(folder.parent)
                for planned in group.plan.runs():
                    if planned.name == folder.name:
                        return with_reason(planned_record(group, planned), read_reasons(folder.parent))
    raise UsageError(f"there is no run {name!r} in {runs}", fix="To see them: mlecore runs list GROUP")
