"""Competitions as task folders of Harbor (`mlecore export harbor`), and the import of its jobs."""

from __future__ import annotations

from pathlib import Path

from mlecore.hookspecs import hookimpl
from mlecore.model.imported import Imported


@hookimpl
def import_runs(source: Path, runs: Path, agent: str | None, name: str | None) -> Imported | None:
    """The folder of one job, with a folder for each trial."""
    from mle_ext_harbor.jobs import find_trials

    if not (trials := find_trials(source)):
        return None
    from mle_ext_harbor.importing import import_trials

    return import_trials(trials, runs, agent, name or source.name)
