"""Taking up a group where another controller left it, and what others ask of its runs meanwhile."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import evolve

from mlecore.backends import Handle
from mlecore.errors import BackendUnreachable
from mlecore.runs import requests
from mlecore.runs.plan import PlannedRun
from mlecore.runs.record import Attempt, RecordError, RunRecord
from mlecore.runs.store import planned_record, recover_record

if TYPE_CHECKING:
    from mlecore.controller.loop import Controller


def recover(controller: Controller, only: frozenset[str] | None = None) -> None:
    """Put every run of the plan where it belongs: the backlog, the place, a next step, or nowhere as it is settled."""
    group = controller.group
    with_folder = {path.name for path in group.folder.iterdir() if path.is_dir()}
    begun = _begun_before(controller)
    for planned in group.plan.runs():
        name = planned.name
        if only is not None and name not in only:
            continue
        controller.lock.beat()
        if name not in with_folder:
            if name in begun:
                controller.say(f"{name} had begun and its folder is gone: it begins anew")
            _wait(controller, planned)
            continue
        record = _recover(controller, planned)
        if record is not None:
            _place(controller, record)
    if begun or with_folder:
        _find_jobs(controller, only)


def _begun_before(controller: Controller) -> set[str]:
    return {str(event["run"]) for event in controller.journal.read() if event.get("event") == "starting"}


def _wait(controller: Controller, planned: PlannedRun) -> None:
    make: Callable[[], RunRecord] = partial(planned_record, controller.group, planned)
    controller.backlog.add(planned.agent.label, planned.competition, make)


def _recover(controller: Controller, planned: PlannedRun) -> RunRecord | None:
    """The record in a run's folder; None where it must be left alone, which is told."""
    folder = controller.group.folder / planned.name
    try:
        record, remark = recover_record(folder)
    except FileNotFoundError:  # a request only, or a controller died before the first record
        _wait(controller, planned)
        return None
    except (RecordError, OSError) as error:
        _leave_alone(controller, folder, str(error))
        return None
    if remark:
        controller.say(remark)
        controller.journal.note("record recovered", planned.name, why=remark)
    if record.uid != planned.uid(controller.group.info.uid):
        _leave_alone(controller, folder, "its record belongs to another run")
        return None
    changed = (record.name, record.competition, record.seed, record.label) != (
        planned.name,
        planned.competition,
        planned.seed,
        planned.agent.label,
    )
    if changed:
        _leave_alone(controller, folder, "its record does not fit the plan; was it edited?")
        return None
    return record


def _leave_alone(controller: Controller, folder: Path, why: str) -> None:
    words = f"{folder.name}: {why}. It is left alone; mend its run.json, or remove the folder to begin it anew"
    controller.say(words)
    controller.outcome.left.append(words)


def _place(controller: Controller, record: RunRecord) -> None:
    controller.extensions.catch_up(record, partial(_report, record.folder))
    if record.state == "planned":
        controller.backlog.add(record.label, record.competition, record)
    elif record.state == "starting":
        controller.begin(record)
    elif record.state in ("running", "collecting"):
        controller.watch(record)
    elif record.state == "collected":
        controller.grade(record)
    else:
        controller.outcome.counts[record.state] += 1
        controller.backlog.took(record.label, record.competition, record.seconds)


def _report(folder: Path) -> Any:
    from mlecore.grading.report import Report

    return Report.from_json(json.loads((folder / "grade.json").read_bytes()))


def _find_jobs(controller: Controller, only: frozenset[str] | None) -> None:
    """Jobs at the place that no record tells of: adopted where their run waits to begin, else ended."""
    controller.searching = True

    def done(result: Any, error: BaseException | None) -> None:
        from mlecore.controller.state import Interrupted

        if error is None:
            controller.searching = False
            _sort_jobs(controller, result, only)
        elif isinstance(error, (BackendUnreachable, OSError)):
            controller.say(
                f"backend {controller.experiment.plan.backend} does not answer: {error}; asking again", every=300
            )
            controller.later(controller.timing.step_first * 5, partial(_find_jobs, controller, only))
        elif isinstance(error, Exception) and not isinstance(error, Interrupted):
            controller.searching = False
            controller.say(f"what still runs at the place is not known: {error}")
        elif not isinstance(error, Exception):
            raise error

    controller.ask(partial(controller.experiment.backend.find, controller.group.info.uid), done)


def _sort_jobs(controller: Controller, jobs: dict[str, Handle], only: frozenset[str] | None) -> None:
    if not jobs:
        return
    group = controller.group
    runs = {planned.uid(group.info.uid): planned for planned in group.plan.runs()}
    for job, handle in jobs.items():
        uid, _, number = job.removeprefix("mle-").rpartition("-")
        planned = runs.get(uid)
        if planned is None or not number.isdigit() or (only is not None and planned.name not in only):
            continue
        live = controller.live.get(planned.name)
        if (
            live
            and live.phase not in ("grading", "settling")
            and live.record.attempt
            and live.record.attempt.job == job
        ):
            continue
        waiting = None if live else controller.backlog.take(planned.agent.label, planned.competition, planned.name)
        k = int(number)
        if waiting and all(attempt.number < k for attempt in waiting.attempts):
            controller.say(f"{planned.name}: found its job {job} at the place: going on with it")
            attempt = Attempt(number=k, job=job)
            controller.begin(evolve(waiting, attempts=(*waiting.attempts, attempt), state="starting"))
            continue
        if waiting:
            controller.backlog.add(waiting.label, waiting.competition, waiting)
        controller.clear(handle)


def answer(controller: Controller) -> None:
    """Meet what others ask: cancel a run, or retry one that failed or was cancelled."""
    group = controller.group
    planned = {run.name: run for run in group.plan.runs()}
    for name, request in requests.pending(group.folder).items():
        if name not in planned:
            continue
        if request == "cancel":
            _cancel(controller, planned[name])
        else:
            _retry(controller, planned[name])


def _cancel(controller: Controller, planned: PlannedRun) -> None:
    live = controller.live.get(planned.name)
    if live and live.phase in ("starting", "running", "stopping"):
        controller.cancel(live)
        return
    waiting = controller.take(planned)
    if waiting:
        controller.settle(waiting, "cancelled", "cancelled before it began")
    elif not live or live.phase != "settling":
        _refuse(controller, planned.name, "it has ended: there is nothing to cancel")


def _retry(controller: Controller, planned: PlannedRun) -> None:
    folder = controller.group.folder / planned.name
    try:
        record, _ = recover_record(folder)
    except (RecordError, OSError):
        _refuse(controller, planned.name, "its record cannot be read: there is nothing to retry")
        return
    if record.state not in ("failed", "cancelled") or planned.name in controller.live:
        _refuse(controller, planned.name, f"it is {record.state}: only failed and cancelled runs are retried")
        return
    controller.again(record)


def _refuse(controller: Controller, name: str, why: str) -> None:
    controller.say(f"{name}: {why}")
    controller.journal.note("request refused", name, why=why)
    requests.done(controller.group.folder / name)
