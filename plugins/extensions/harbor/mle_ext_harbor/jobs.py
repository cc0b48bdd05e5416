"""Trials in the folder of a job of Harbor. Quick, for it is asked whenever somebody imports runs."""

from __future__ import annotations

from pathlib import Path

from mlecore.util.schema import SchemaError, read_json

RESULT = "result.json"


def find_trials(source: Path) -> list[Path]:
    """Folders of trials in a job's folder, or the trial's own; empty if there are none. Killed ones are among them."""
    if not source.is_dir() or not (source / RESULT).is_file():
        return []
    folders = [source] if _is_trial(source) else sorted(source.iterdir())
    return [folder for folder in folders if not folder.is_symlink() and _is_trial(folder)]


def _is_trial(folder: Path) -> bool:
    if (folder / "agent").is_dir() and (folder / "verifier").is_dir():
        return True
    try:
        result = read_json(folder / RESULT, below=folder)
    except (SchemaError, OSError):
        return False
    return isinstance(result, dict) and "trial_name" in result
