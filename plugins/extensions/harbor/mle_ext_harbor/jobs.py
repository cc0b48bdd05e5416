"""Trials in the folder of a job of Harbor. Quick, for it is asked whenever somebody imports runs."""

from __future__ import annotations

from pathlib import Path

RESULT = "result.json"


def find_trials(source: Path) -> list[Path]:
    """Folders of trials in a job's folder, or the trial's own; empty if there are none."""
    if not source.is_dir() or not (source / RESULT).is_file():
        return []
    folders = [source] if (source / "artifacts").is_dir() else sorted(source.iterdir())
    return [folder for folder in folders if not folder.is_symlink() and (folder / RESULT).is_file()]
