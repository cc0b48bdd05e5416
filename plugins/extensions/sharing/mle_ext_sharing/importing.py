"""Imports results of other harnesses: those of MLE-bench and tables of scores itself, others through extensions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from mle_ext_sharing.jsonl import import_jsonl
from mle_ext_sharing.mlebench import import_group, import_report, run_folders
from mle_ext_sharing.score_table import import_table
from mlecore.errors import UsageError
from mlecore.model.imported import Imported
from mlecore.plugins.loading import load_extensions


def import_runs(
    source: Path, runs: Path, *, reports: Sequence[Path] = (), agent: str | None = None, name: str | None = None
) -> Imported:
    """Create a group from MLE-bench's run group, or from what an installed extension can read.

    ``reports`` are MLE-bench's grading reports. Raises UsageError.
    """
    if (source / "metadata.json").is_file() or run_folders(source):
        return import_group(source, runs, reports=reports, agent=agent, name=name)
    if source.suffix.lower() == ".jsonl":
        return import_jsonl(source, runs, reports=reports, agent=agent, name=name)
    if source.suffix.lower() == ".csv":
        return import_table(source, runs, agent=agent, name=name)
    manager, errors = load_extensions()
    imported: Imported | None = manager.hook.import_runs(source=source, runs=runs, agent=agent, name=name)
    if imported is None and source.suffix.lower() == ".json":
        return import_report(source, runs, agent=agent, name=name)
    if imported is None:
        raise UsageError(
            f"{source} contains no results that can be imported" + "".join(f"\n{error.message}" for error in errors),
            fix="Give a run group, a grading report or a .jsonl of MLE-bench, or a CSV of scores. Logs of inspect need"
            " mle-ext-inspect, jobs of harbor need mle-ext-harbor. What `mlecore runs export` wrote needs no import:"
            " unpack it, and report on its folder.",
        )
    return imported
