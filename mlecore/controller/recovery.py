"""The state in which another controller left a group: what its folder says of each run, and whose the jobs are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from attrs import frozen

from mlecore.errors import DataError
from mlecore.model.backends import Handle
from mlecore.model.plan import PlannedRun
from mlecore.model.record import RunRecord
from mlecore.runs.contents import check_run
from mlecore.runs.digests import has_its_grade
from mlecore.runs.journal import Journal
from mlecore.runs.store import Group, planned_record, recover_record


@frozen(kw_only=True)
class FoundRun:
    """The state of a planned run on disk."""

    planned: PlannedRun
    ended: RunRecord | None = None  # it was cancelled before it began
    record: RunRecord | None = None  # it has begun
    remark: str = ""  # a message for the user
    problem: str = ""  # why its record cannot be used


def find_runs(group: Group, journal: Journal, only: frozenset[str] | None) -> Iterator[FoundRun]:
    """Every run of the plan, or those named. Folders are read one by one, as the caller asks for the next."""
    names = {path.name for path in group.folder.iterdir()}
    started = {str(event["run"]) for event in journal.read(event="starting")}
    for planned in group.plan.runs():
        if only is not None and planned.name not in only:
            continue
        if planned.name in names:
            yield _read(group, planned)
        elif planned.name in group.cancelled:
            yield FoundRun(planned=planned, ended=planned_record(group, planned))
        elif planned.name in started:
            remark = f"{planned.name} had begun and its folder is gone: it starts again"
            yield FoundRun(planned=planned, remark=remark)
        else:
            yield FoundRun(planned=planned)


def _read(group: Group, planned: PlannedRun) -> FoundRun:
    folder = group.folder / planned.name
    try:
        record, remark = recover_record(folder)
        if not record.settled or (record.state == "graded" and not has_its_grade(record)):  # it is written to
            check_run(folder)
    except FileNotFoundError:  # a controller died before the first record
        ended = planned_record(group, planned) if planned.name in group.cancelled else None
        return FoundRun(planned=planned, ended=ended)
    except (DataError, OSError) as error:
        return _unusable(planned, str(error))
    if why := _misfit(group, planned, record):
        return _unusable(planned, why)
    return FoundRun(planned=planned, record=record, remark=remark)


def _misfit(group: Group, planned: PlannedRun, record: RunRecord) -> str:
    """Why a record is not that of this run; empty where it is."""
    if record.uid != planned.uid(group.info.uid):
        return "its record belongs to another run"
    cell = (record.name, record.competition, record.seed, record.label)
    if cell != (planned.name, planned.competition, planned.seed, planned.label):
        return "its record does not fit the plan; was it edited?"
    if not record.own_jobs:
        return "its record names a job that is not this run's; was it edited?"
    return ""


def _unusable(planned: PlannedRun, why: str) -> FoundRun:
    problem = f"{why}. It is left alone: fix its run.json, or remove the folder to start it again"
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


def has_started(folder: Path) -> bool:
    """Another controller has been at work in this group: the backend may have jobs of it."""
    return Journal(folder).path.exists() or any(path.is_dir() and "--" in path.name for path in folder.iterdir())
