"""Runs that are cancelled before they begin: one file of the group names them, whatever happens to the controller."""

from __future__ import annotations

import errno
import json

import pytest

from mlecore.runs import requests
from mlecore.runs.lock import GroupLock
from mlecore.runs.store import load_group, open_group
from mlecore.util import files

NAMES = ["worker--coins--0", "worker--coins--1", "worker--coins--2"]


def states(lab) -> dict[str, str]:
    return {record.name: record.state for record in load_group(lab.group.folder)}


def test_a_group_is_cancelled_in_one_file(lab, cli):
    lab.make(("worker", {}), seeds=3)
    cli("runs", "cancel", "g")
    assert states(lab) == dict.fromkeys(NAMES, "cancelled")
    assert not list(lab.group.folder.glob("worker--*")) and not requests.pending(lab.group.folder)
    assert json.loads((lab.group.folder / "cancelled.json").read_text()) == {"format": 1, "runs": NAMES}
    assert "3 cancelled" in cli("runs", "list")[1]
    assert "cancelled before it began" in cli("runs", "show", f"g/{NAMES[0]}")[1]
    assert lab.run().counts == {"cancelled": 3} and not (lab.backend_root / "starts.log").exists()
    assert "nothing to cancel" in cli("runs", "cancel", "g")[1]


def test_a_request_for_all_ends_those_at_work_too(lab):
    lab.make(("worker", {"seconds": "30"}), seeds=3, execution={"max_parallel": 1})
    lab.display.on["running"] = lambda record: requests.leave(lab.group.folder, requests.ALL, "cancel")
    assert lab.run().counts == {"cancelled": 3}
    ends = {record.name: record.ended for record in load_group(lab.group.folder)}
    assert ends == {NAMES[0]: "stopped", NAMES[1]: None, NAMES[2]: None}
    assert not requests.pending(lab.group.folder) and not list((lab.backend_root / "jobs").iterdir())


@pytest.mark.parametrize(("asked", "left"), [(requests.ALL, "cancelled"), (NAMES[0], "planned")])
@pytest.mark.parametrize("last_moment", [False, True])
def test_a_controller_of_other_runs_cancels_too(lab, asked, left, last_moment):
    """As that of `runs grade` or `runs retry`, to which a cancellation is handed over while it holds the group."""
    lab.make(("worker", {"seconds": "30"}), seeds=3, execution={"max_parallel": 1})

    def stop_it(controller) -> None:
        lab.display.on["running"] = lambda record: controller.stop()

    lab.run(stop_it)
    lab.display.on.clear()
    with GroupLock(lab.group.folder) as lock:
        controller = lab.controller(lock)
        controller.start_new = False
        if last_moment:
            asked_once = iter([asked])

            def conclude() -> bool:
                for run in asked_once:
                    requests.leave(lab.group.folder, run, "cancel")
                return False

            controller.detection.conclude = conclude
        else:
            requests.leave(lab.group.folder, asked, "cancel")
        assert controller.run(frozenset({NAMES[2]})).complete
    assert states(lab) == {NAMES[0]: "cancelled", NAMES[1]: left, NAMES[2]: left}
    assert not requests.pending(lab.group.folder) and not list((lab.backend_root / "jobs").iterdir())


class Killed(BaseException):
    """The controller's process has been killed."""


@pytest.mark.parametrize("kind", ["killed", "full"])
def test_a_cancellation_survives_every_write(lab, data, kind):
    """Killed or without room at any file operation, and resumed: all are cancelled, and none has begun."""
    for n in range(1, 100):
        lab = type(lab)(lab.root / str(n), data)
        lab.make(("worker", {}), seeds=3)
        requests.leave(lab.group.folder, requests.ALL, "cancel")
        count = 0

        def fault(operation, path, n=n) -> None:
            nonlocal count
            count += 1
            if kind == "killed" and count >= n:
                raise Killed
            if kind == "full" and n <= count < n + 2:
                raise OSError(errno.ENOSPC, "No space left on device", str(path))

        reached = False
        with files.faults(fault):
            try:
                lab.run()
            except Killed:
                reached = True
        lab.group = open_group(lab.group.folder)
        assert lab.run().counts == {"cancelled": 3}
        assert states(lab) == dict.fromkeys(NAMES, "cancelled") and not requests.pending(lab.group.folder)
        assert not (lab.backend_root / "starts.log").exists()
        if not reached and count < n:
            break
    else:
        pytest.fail("it does not come to its end")
    assert n > 3  # it is written, renamed and synced


def test_a_run_that_has_a_record_is_what_it_says(lab):
    lab.make(("worker", {}), seeds=3)
    assert lab.run().complete
    (lab.group.folder / "cancelled.json").write_text(json.dumps({"format": 1, "runs": NAMES[:2]}))
    assert states(lab) == dict.fromkeys(NAMES, "graded")
