"""Doing what others ask of a group's controller: cancel a run, or retry one that failed or was cancelled.

A request stays until it is fulfilled or refused, and is answered at every look: answering twice changes nothing.
"""

from __future__ import annotations

from mlecore.controller.lifecycle import Lifecycle
from mlecore.controller.reporter import Reporter
from mlecore.errors import DataError
from mlecore.runs import requests
from mlecore.runs.contents import check_run
from mlecore.runs.plan import PlannedRun
from mlecore.runs.store import Group, recover_record


def answer_requests(group: Group, lifecycle: Lifecycle, reporter: Reporter) -> None:
    """All that are there; those for runs that the plan does not have are left alone."""
    asked = requests.pending(group.folder)
    if not asked:
        return
    for planned in group.plan.runs():
        request = asked.get(planned.name)
        refusal = ""
        if request == "cancel":
            refusal = _cancel(planned, lifecycle)
        elif request == "retry":
            refusal = _retry(group, planned, lifecycle)
        if refusal:
            reporter.say(f"{planned.name}: {refusal}")
            reporter.note("request refused", planned.name, why=refusal)
            requests.remove(group.folder, planned.name)


def _cancel(planned: PlannedRun, lifecycle: Lifecycle) -> str:
    """Why it cannot be cancelled; empty if it is being done."""
    active = lifecycle.active.get(planned.name)
    if active and active.phase in ("starting", "running", "stopping"):
        lifecycle.cancel(active)
        return ""
    if active and (active.cancel or active.phase == "closing"):
        return ""
    if waiting := lifecycle.take_waiting(planned):
        lifecycle.close(waiting, "cancelled", "cancelled before it began")
        return ""
    return "it has ended: there is nothing to cancel"


def _retry(group: Group, planned: PlannedRun, lifecycle: Lifecycle) -> str:
    """Why it cannot be retried; empty if it is being done."""
    active = lifecycle.active.get(planned.name)
    if active and active.phase == "closing":
        return ""
    try:
        check_run(group.folder / planned.name)
        record, _ = recover_record(group.folder / planned.name)
    except (DataError, OSError) as error:
        return f"its record cannot be read, so there is nothing to retry: {error}"
    if active or record.state not in ("failed", "cancelled"):
        return f"it is {record.state}: only failed and cancelled runs are retried"
    lifecycle.retry(record)
    return ""
