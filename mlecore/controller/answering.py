"""Requests to a group's controller: cancel a run, or retry one that failed or was cancelled.

A request stays until it is fulfilled or refused. It is answered at every check; answering twice changes nothing.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping

from attrs import evolve

from mlecore.controller.reporting import Reporter
from mlecore.controller.roster import Roster
from mlecore.errors import DataError
from mlecore.model.plan import PlannedRun
from mlecore.model.record import RunRecord
from mlecore.runs import requests
from mlecore.runs.cancelled import read_cancelled
from mlecore.runs.contents import check_run
from mlecore.runs.store import Group, planned_record, recover_record


def answer_requests(asked: Mapping[str, requests.Request], group: Group, roster: Roster, reporter: Reporter) -> None:
    """All requests that are ``asked``; those for runs that are not in the plan are ignored."""
    if not asked:
        return
    everything, runs = requests.ALL in asked, list(group.plan.runs())
    cancelling = roster.cancel(run for run in runs if asked.get(run.name, "cancel" if everything else "") == "cancel")
    if everything and not cancelling:
        with contextlib.suppress(OSError):  # met again
            requests.remove(group.folder, requests.ALL)
    for planned in runs:
        request, refusal = asked.get(planned.name), ""
        if request == "cancel" and planned.name not in cancelling:
            refusal = "it has ended: there is nothing to cancel"
        elif request in ("retry", "force"):
            refusal = _retry(group, planned, roster, force=request == "force")
        if refusal:
            reporter.say(f"{planned.name}: {refusal}")
            reporter.note("request refused", planned.name, why=refusal)
            requests.remove(group.folder, planned.name)


def _retry(group: Group, planned: PlannedRun, roster: Roster, force: bool) -> str:
    """Why it cannot be retried; empty if it is being done, or will be.

    ``force``: also if it has a result, unless it is being graded or detectors are active: they write into its folder.
    """
    active = roster.active.get(planned.name)
    if active and (active.phase == "closing" or (force and active.phase == "grading")):
        return ""
    if force and roster.judging:
        return ""
    try:
        check_run(group.folder / planned.name)
        record = _record(group, planned)
    except (DataError, OSError) as error:
        return f"its record cannot be read, so there is nothing to retry: {error}"
    if active or record.state not in ("failed", "cancelled", *(("graded",) if force else ())):
        others = "failed, cancelled and graded" if force else "failed and cancelled"
        return f"it is {record.state}: only {others} runs are retried"
    if record.imported_from:
        return f"it was imported from {record.imported_from}: mlecore cannot run it"
    roster.retry(record)
    return ""


def _record(group: Group, planned: PlannedRun) -> RunRecord:
    """Raises DataError, OSError; FileNotFoundError for a run without a record that was not cancelled."""
    try:
        return recover_record(group.folder / planned.name)[0]
    except FileNotFoundError:
        if planned.name not in read_cancelled(group.folder):
            raise
        return evolve(planned_record(group, planned), state="cancelled")
