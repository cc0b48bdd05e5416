"""Competitions as tasks of inspect_ai, found by its entry point (``tasks``), and the import of its logs."""

from __future__ import annotations

from pathlib import Path

from mlecore.hookspecs import hookimpl
from mlecore.model.imported import Imported


@hookimpl
def import_runs(source: Path, runs: Path, agent: str | None, name: str | None) -> Imported | None:
    """One log of inspect (.eval, or .json), or a folder of them."""
    from mle_ext_inspect.logs import find_logs

    if not (logs := find_logs(source)):
        return None
    from mle_ext_inspect.importing import import_logs

    return import_logs(logs, runs, agent, name or source.stem)
