"""Where another controller left a group: what its folder says of each run, and whose the jobs are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from attrs import frozen

from mlecore.backends import Handle
from mlecore.errors import DataError
from mlecore.runs.contents import check_run
from mlecore.runs.journal import Journal
from mlecore.runs.plan import PlannedRun
from mlecore.runs.record import RunRecord
from mlecore.runs.store import Group, recover_record


@frozen(kw_only=True)
class FoundRun:
    """What the disk says of a planned run."""

    planned: PlannedRun
    record: RunRecord | None = None  # None: it has not begun, or its record cannot be used
    remark: str = ""  # what a person should know
    problem: str = ""  # why its record cannot be used


def find_runs(group: Group, journal: Journal, only: frozenset[str] | None) -> Iterator[FoundRun]:
    """Every run of the plan, or those named. Folders are read one by one, as the caller asks for the next."""
    names = {path.name for path in group.folder.iterdir()}
    started = {str(event["run"]) for event in journal.read() if event.get("event") == "starting"}
    for planned in group.plan.runs():
        if only is not None and planned.name not in only:
            continue
        if planned.name in names:
            yield _read(group, planned)
        elif planned.name in started:
            remark = f"{planned.name} had begun and its folder is gone: it begins anew"
            yield FoundRun(planned=planned, remark=remark)
        else:
            yield FoundRun(planned=planned)


def _read(group: Group, planned: PlannedRun) -> FoundRun:
    try:
        check_run(group.folder / planned.name)
        record, remark = recover_record(group.folder / planned.name)
    except FileNotFoundError:  # a controller died before the first record
        return FoundRun(planned=planned)
    except (DataError, OSError) as error:
        return _unusable(planned, str(error))
    if record.uid != planned.uid(group.info.uid):
        return _unusable(planned, "its record belongs to another run")
    cell = (record.name, record.competition, record.seed, record.label)
    if cell != (planned.name, planned.competition, planned.seed, planned.label):
        return _unusable(planned, "its record does not fit the plan; was it edited?")
    if not record.own_jobs:
        return _unusable(planned, "its record names a job that is not this run's; was it edited?")
    return FoundRun(planned=planned, record=record, remark=remark)


def _unusable(planned: PlannedRun, why: str) -> FoundRun:
    problem = f"{why}. It is left alone: fix its run.json, or remove the folder to begin it anew"
    return FoundRun(planned=planned, problem=problem)


def owners(
    group: Group, jobs: Mapping[str, Handle], only: frozenset[str] | None
) -> Iterator[tuple[PlannedRun, int, Handle]]:
    """The run and the number of its attempt that each job was started for; jobs of no run of the plan are left out."""
    if not jobs:
        return
    runs = {planned.uid(group.info.uid): planned for planned in group.plan.runs()}
    for job, handle in jobs.items():
        uid, _, number = job.removeprefix("mle-").rpartition("-")
        planned = runs.get(uid)
        if planned and number.isdigit() and (only is None or planned.name in only):
            yield planned, int(number), handle


def has_begun(folder: Path) -> bool:
    """Another controller has been at work in this group: the backend may have jobs of it."""
    return Journal(folder).path.exists() or any(path.is_dir() and "--" in path.name for path in folder.iterdir())
