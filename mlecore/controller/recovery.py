"""Takes over from another controller: the state of each run in the group's folder, and the runs of the backend's
jobs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

from mlecore.controller.context import Context
from mlecore.controller.reporting import explain
from mlecore.controller.roster import Roster
from mlecore.errors import BackendUnreachable, DataError
from mlecore.model.backends import Handle
from mlecore.model.plan import PlannedRun
from mlecore.model.record import RunRecord
from mlecore.runs.contents import check_run
from mlecore.runs.digests import has_its_grade
from mlecore.runs.store import Group, planned_record, recover_record


def has_started(context: Context) -> bool:
    """Another controller has been at work in this group: the backend may have jobs of it."""
    folder = context.group.folder
    return context.reporter.journal.path.exists() or any(
        path.is_dir() and "--" in path.name for path in folder.iterdir()
    )


def recover(context: Context, roster: Roster, only: frozenset[str] | None, beat: Callable[[], None]) -> None:
    """Continue every run of the plan, or those named, from the state on disk. ``beat`` is called at each of them."""
    group, reporter = context.group, context.reporter
    names = {path.name for path in group.folder.iterdir()}
    started = {str(event["run"]) for event in reporter.journal.read(event="starting")}
    for planned in group.plan.runs():
        if only is not None and planned.name not in only:
            continue
        beat()
        record, remark, problem = None, "", ""
        if planned.name in names:
            record, remark, problem = _read(group, planned)
        elif planned.name in started and planned.name not in group.cancelled:
            remark = f"{planned.name} had begun and its folder is gone: it starts again"
        if remark:
            reporter.say(remark)
            reporter.note("recovered", planned.name, why=remark)
        if problem:
            words = f"{problem}. It is left alone: fix its run.json, or remove the folder to start it again"
            reporter.unfinished("left alone", words, planned.name)
        elif record:
            roster.resume(record)
        elif planned.name in group.cancelled:
            roster.count(planned_record(group, planned))
        else:
            roster.backlog.add(planned)


def _read(group: Group, planned: PlannedRun) -> tuple[RunRecord | None, str, str]:
    """A run's record, if it has one; a remark for the user; and why the record cannot be used."""
    folder = group.folder / planned.name
    try:
        record, remark = recover_record(folder)
        if not record.settled or (record.state == "graded" and not has_its_grade(record)):  # it is written to
            check_run(folder)
    except FileNotFoundError:  # a controller died before the first record
        return None, "", ""
    except (DataError, OSError) as error:
        return None, "", str(error)
    cell = (record.name, record.competition, record.seed, record.label)
    if record.uid != planned.uid(group.info.uid):
        return None, "", "its record belongs to another run"
    if cell != (planned.name, planned.competition, planned.seed, planned.label):
        return None, "", "its record does not fit the plan; was it edited?"
    if not record.own_jobs:
        return None, "", "its record names a job that is not this run's; was it edited?"
    return record, remark, ""


async def list_jobs(context: Context) -> Mapping[str, Handle]:
    """The jobs that the backend has of this group, some without a record: a controller died before it wrote that."""
    backend, name = context.experiment.backend, context.experiment.plan.backend.name
    while True:
        try:
            return await context.tasks.call("finish", partial(backend.list_jobs, context.group.info.uid))
        except (BackendUnreachable, OSError) as error:
            context.reporter.say(f"backend {name} does not answer: {error}; asking again", every=300)
            await context.tasks.sleep(context.timing.step_delay * 5)
        except Exception as error:
            context.reporter.say(f"backend {name} cannot list its jobs: {explain(error)}; continuing")
            return {}


def owners(
    group: Group, jobs: Mapping[str, Handle], only: frozenset[str] | None
) -> Iterator[tuple[PlannedRun, int, Handle]]:
    """The run and the number of its attempt that each job was started for; jobs of no run of the plan are left out."""
    runs = {planned.uid(group.info.uid): planned for planned in group.plan.runs()} if jobs else {}
    for job, handle in jobs.items():
        uid, _, number = job.removeprefix("mle-").rpartition("-")
        planned = runs.get(uid)
        if planned and number.isdigit() and (only is None or planned.name in only):
            yield planned, int(number), handle
