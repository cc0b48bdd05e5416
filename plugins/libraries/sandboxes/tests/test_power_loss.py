"""Power lost at a bad moment: what a job left is whole, or the job is lost and the run starts again."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mlecore.model.backends import Handle
from mlecore_jobs.supervise import files as small_files
from mlecore_jobs.supervise import processes, supervisor
from mlecore_jobs.supervise.spec import JobSpec
from mlecore_sandboxes import folders, supervision


@pytest.fixture
def on_disk(disk: Any, monkeypatch: pytest.MonkeyPatch, make_lab: Callable[..., Any]) -> Any:
    """A backend whose state lies on its own disk."""
    monkeypatch.setenv("MLECORE_VM_STATE", str(disk.at / "state"))
    return make_lab(isolation="none")


def rebooted(handle: Handle, name: str) -> None:
    """As a file of before the power loss: another boot id."""
    path = folders.folder_of(handle) / name
    path.write_text(json.dumps({**json.loads(path.read_text()), "boot": "the boot before"}))


def test_what_an_ended_job_left_survives_a_power_loss(disk: Any, on_disk: Any) -> None:
    script = "for i in $(seq 300); do echo $i > code/$i; done; echo id,y > submission/submission.csv"
    handle = on_disk.start(script)
    on_disk.wait(handle)
    state = json.loads((folders.folder_of(handle) / small_files.STATE).read_text())
    # "exited" is read before it is on the disk
    on_disk.until(lambda: not processes.alive(state["pid"], state["started"]))
    disk.lose_power()
    status = on_disk.status(handle)
    assert (status.phase, status.exit_code, status.infra_failure) == ("exited", 0, False)
    _, into = on_disk.fetch(handle, "submission", "code", ".mlecore/exit.json")
    assert (into / "submission/submission.csv").read_text() == "id,y\n"
    assert [(into / f"code/{i}").read_text() for i in range(1, 301)] == [f"{i}\n" for i in range(1, 301)]
    assert json.loads((into / ".mlecore/exit.json").read_text())["exit_code"] == 0


def test_a_layout_is_known_after_a_power_loss_and_never_started(
    disk: Any, on_disk: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Power goes between giving the folder its name and starting the supervisor: files of the agent may be empty."""
    with monkeypatch.context() as patched:
        patched.setattr(supervision, "supervise", lambda *_: None)
        handle = on_disk.start("echo ran")
    os.sync()  # its name has reached the disk
    disk.lose_power()
    assert on_disk.backend.list_jobs("g") == {handle.name: handle}  # so that it can be removed
    rebooted(handle, small_files.SPEC)
    assert on_disk.start("echo ran") == handle
    status = on_disk.status(handle)
    assert status.phase == "exited" and status.infra_failure and "before it began" in status.reason
    assert on_disk.printed(handle) == ""
    on_disk.backend.remove(handle)
    assert on_disk.status(handle).phase == "gone"


@pytest.mark.sandbox
def test_a_supervisor_that_is_dead_at_birth_loses_the_attempt_not_the_run(
    lab: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(supervision.pythons, "base_python", lambda: "/bin/false")
        handle = lab.start("/bin/true")
    status = lab.status(handle)
    assert status.phase == "exited" and status.infra_failure and "no supervisor took the job" in status.reason
    lab.backend.remove(handle)


@pytest.fixture
def ending(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A supervisor whose job has just ended."""
    empty: dict[str, Any] = dict.fromkeys(JobSpec._fields)
    folder = str(tmp_path)
    spec = JobSpec(**{**empty, "name": "j", "home_folder": folder, "tmp_folder": folder, "free_disk": 0})
    monkeypatch.setattr(supervisor.processes, "end_tree", lambda *_: None)
    return supervisor.Supervisor(str(tmp_path), str(tmp_path), {"secrets": {}, "gateway": None}, spec)


@pytest.mark.parametrize(("number", "in_doubt"), [(errno.EIO, False), (errno.ENOSPC, True)])
def test_a_disk_that_fails_at_the_end_is_no_fault_of_the_agent_but_perhaps_a_full_one(
    ending: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, in_doubt: bool
) -> None:
    def failing(folder: str) -> None:
        raise OSError(number, os.strerror(number), folder)

    monkeypatch.setattr(supervisor, "sync_disk", failing)
    ending._finish(0, 0.0)
    state = json.loads((tmp_path / "state.json").read_text())
    assert state["infra_failure"] and f"could not be written to the disk: {os.strerror(number)}" in state["reason"]
    assert state["in_doubt"] == in_doubt
