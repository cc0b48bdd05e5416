"""Judging the finished runs of a group: `mlecore detect`, in Python ``mlecore.detect``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from attrs import frozen

from mlecore.data.layout import DataDirs
from mlecore.detecting.judging import Judges, public_data
from mlecore.detecting.ready import GivenOptions, choose
from mlecore.errors import UsageError
from mlecore.model.findings import Findings
from mlecore.model.record import WITH_OUTPUT, RunRecord
from mlecore.runs.contents import check_group
from mlecore.runs.journal import Journal
from mlecore.runs.ownership import require_own
from mlecore.runs.store import load_group, open_group
from mlecore.util import validation


@frozen(kw_only=True)
class Judged:
    """A run, and what one detector found in it."""

    run: RunRecord
    found: Findings


def detect(
    group: str | Path,
    run: str | None = None,
    *,
    detectors: Sequence[str] = (),
    options: GivenOptions | None = None,
    runs: Path | str = "runs",
    data: Path | str | Sequence[Path | str] = (),
    say: Callable[[str], None] = lambda text: None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> list[Judged]:
    """Have detectors (default: all that are installed and can judge here) judge the finished runs of a group, or one.

    Writes what they find into the runs' folders. ``options`` are by detector and name; those of the group's plan are
    their defaults. Raises UsageError for what cannot be judged, PluginError, DataError.
    """
    opened = open_group(validation.path(runs, "the folder of the groups") / validation.path(group, "a group"))
    require_own(opened)
    check_group(opened.folder)
    problems: list[str] = []
    members = [record for record in load_group(opened.folder, problems) if record.state in WITH_OUTPUT]
    wanted = [record for record in members if run in (None, record.name)]
    if not wanted:
        what = group if run is None else f"{group}/{run}"
        raise UsageError(f"{what}: no run has any output to judge yet")
    planned = {
        name: values for name, values in opened.plan.execution.detectors.items() if name in (detectors or [name])
    }
    own = options or {}
    merged = {name: {**planned.get(name, {}), **own.get(name, {})} for name in {**planned, **own}}
    chosen, remarks = choose(detectors, merged)
    for words in (*problems, *remarks):
        say(words)
    if not chosen:
        raise UsageError("no detector can judge here", fix="To see them: mlecore plugins list --kind detector")
    found: list[Judged] = []
    journal = Journal(opened.folder)
    dirs = DataDirs.of(validation.paths(data, "a data directory") or opened.info.data)
    with Judges(chosen, dirs, public_data(dirs)) as judges:
        for number, record in enumerate(wanted, 1):
            for each in judges.judge(record, members):
                journal.note("judged", record.name, detector=each.detector.name, outcome=each.outcome)
                found.append(Judged(run=record, found=each))
            progress(number, len(wanted))
    return found
