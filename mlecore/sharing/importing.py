"""Results of other harnesses, whichever reads them: mlecore itself those of MLE-bench, extensions the others."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from mlecore.errors import UsageError
from mlecore.registry.loading import load_extensions
from mlecore.sharing.foreign import Imported
from mlecore.sharing.mlebench import import_group


def import_runs(
    source: Path, runs: Path, *, reports: Sequence[Path] = (), agent: str | None = None, name: str | None = None
) -> Imported:
    """Create a group from MLE-bench's run group, or from what an installed extension can read.

    ``reports`` are MLE-bench's grading reports. Raises UsageError.
    """
    if (source / "metadata.json").is_file():
        return import_group(source, runs, reports=reports, agent=agent, name=name)
    manager, errors = load_extensions()
    imported: Imported | None = manager.hook.import_runs(source=source, runs=runs, agent=agent, name=name)
    if imported is None:
        raise UsageError(
            f"{source} contains no results that can be imported" + "".join(f"\n{error.message}" for error in errors),
            fix="Give a run group of MLE-bench (it has metadata.json). Logs of inspect need mle-ext-inspect, jobs of"
            " harbor need mle-ext-harbor.",
        )
    return imported
