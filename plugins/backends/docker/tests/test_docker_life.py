"""A job from start to removal: started once, watched, ended in different ways that are distinguished, removed."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from mle_backend_docker import outcome, starting
from mle_backend_docker.docker_backend import DockerBackend

from mlecore.errors import BackendError
from mlecore.model.backends import ARGV_KILLED, Handle
from mlecore_sandboxes.containers import names

if TYPE_CHECKING:
    from conftest import Lab

pytestmark = pytest.mark.docker


def test_a_start_that_was_cut_off_is_taken_over(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    job = lab.job("cat agent/x", files={"agent/x": b"filled\n"})

    def die(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(starting.Starter, "_fill_and_start", die)
        with pytest.raises(KeyboardInterrupt):
            lab.backend.start(job)
    [handle] = lab.backend.list_jobs(lab.group).values()
    assert lab.backend.status([handle])[handle].phase == "pending"
    monkeypatch.setattr(starting, "CREATOR_TIMEOUT", 0.5)
    assert lab.backend.start(job) == handle
    assert lab.printed(handle) == "filled\n"


def test_what_a_killed_start_left_without_a_container_is_found_and_removed(lab: Lab) -> None:
    from mle_backend_docker import network

    job = lab.job(network="llm", allow=("example.com",))
    network._network(lab.engine, job, names.labels(job, "agent"))
    [handle] = lab.backend.list_jobs(lab.group).values()
    assert lab.backend.status([handle])[handle].phase == "gone"
    lab.backend.remove(handle)
    assert lab.left() == {}


CHILD_OOM = """python3 -c 'x = bytearray(10**9)'"""


def test_the_ways_jobs_end_are_distinguished(lab: Lab) -> None:
    backend = lab.backend
    jobs = {
        "good": lab.start("exit 0"),
        "bad": lab.start("exit 7"),
        "late": lab.start("sleep 1000", time_limit=0.5, grace=0.2),
        "large": lab.start('exec python3 -c "x = bytearray(10**9)"', memory=64 * 1024 * 1024),
        "signalled": lab.start("kill -9 $$"),
        "killed": lab.start("echo up; sleep 1000"),
        "host": lab.start("echo up; sleep 1000"),
        "docker stop": lab.start("trap 'exit 3' TERM; echo up; while :; do sleep 0.1; done"),
        "grown": lab.start(f"{CHILD_OOM}; trap 'exit 3' TERM; echo up; while :; do sleep 0.1; done", memory=64 << 20),
        "itself": lab.start("trap '' TERM; kill -TERM 1; sleep 1000", grace=0.2),
        "stopped": lab.start("echo up; sleep 1000"),
        "removed": lab.start("sleep 1000"),
        "running": lab.start("sleep 1000"),
    }
    for name in ("killed", "host", "docker stop", "grown", "stopped"):
        lab.said(jobs[name], "up")
    assert backend.status([jobs["running"]])[jobs["running"]].phase == "running"
    lab.engine.api.kill(jobs["killed"].name)
    os.kill(lab.engine.api.inspect_container(jobs["host"].name)["State"]["Pid"], signal.SIGKILL)
    lab.engine.api.stop(jobs["docker stop"].name)
    lab.engine.api.stop(jobs["grown"].name)
    backend.stop(jobs["stopped"], 20.0)
    lab.engine.api.remove_container(jobs["removed"].name, force=True, v=True)
    ended = {name: lab.wait(handle, "gone" if name == "removed" else "exited")
             for name, handle in jobs.items() if name != "running"}  # fmt: skip
    assert {name: (s.exit_code, s.oom, s.infra_failure) for name, s in ended.items()} == {
        "good": (0, False, False),
        "bad": (7, False, False),
        "late": (124, False, False),
        "large": (ARGV_KILLED, True, False),
        "signalled": (ARGV_KILLED, False, False),
        "killed": (137, False, True),
        "host": (137, False, True),
        "docker stop": (3, False, True),
        "grown": (3, False, True),
        "itself": (ARGV_KILLED, False, False),
        "stopped": (143, False, False),
        "removed": (None, False, False),
    }
    words = {
        "late": "time",
        "large": "out of memory",
        "killed": "docker stop, kill",
        "host": "killed from outside",
        "docker stop": "docker stop",
        "itself": "the job's processes can",
        "stopped": "by mlecore",
    }
    for name, word in words.items():
        assert word in ended[name].reason
    assert [name for name, each in ended.items() if each.in_doubt] == ["host"]
    both = backend.status(list(jobs.values()))
    assert both[jobs["running"]].phase == "running" and both[jobs["bad"]] == ended["bad"]


def test_no_agent_can_pass_its_own_end_off_as_an_infrastructure_failure(lab: Lab) -> None:
    handle = lab.start("rm -rf .mlecore/* ; chmod 0 .mlecore; kill -9 $$")
    assert not lab.wait(handle).infra_failure
    for script in (
        """echo '{"stopped": true}' >.mlecore/exit.json; chmod 0555 .mlecore; exit 137""",
        "chmod 0 .mlecore; exit 255",
        "trap '' TERM INT; kill -INT 1; chmod 0 .mlecore; sleep 1000",
    ):
        assert not lab.wait(lab.start(script, grace=0.2)).infra_failure, script


def test_a_job_whose_init_does_not_end_it_is_ended_from_outside(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    forged = '{"exit_code": 1, "timed_out": true, "stopped": false}'
    init = f"echo '{forged}' >.mlecore/exit.json\ntrap '' TERM\nwhile :; do sleep 1; done\n"
    stuck = {"tools": {"init": init.encode()}, "time_limit": 0.1, "grace": 0.1}
    late, early = lab.start(**stuck), lab.start(**{**stuck, "time_limit": 1000.0})
    monkeypatch.setattr(outcome, "KILL_MARGIN", 0.3)
    status = lab.wait(late)
    assert (status.timed_out, status.infra_failure) == (True, False) and "init did not end the job" in status.reason
    assert DockerBackend({}, lab.engine).status([late]) == {late: status}
    assert lab.backend.status([early])[early].phase == "running"


def test_an_init_that_is_late_itself_is_left_to_end_its_job(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a sleep of this machine a job may be long beyond its time when it is first seen again."""
    handle = lab.start("sleep 1000", time_limit=0.1, grace=0.1)
    monkeypatch.setattr(outcome.Backstop, "_overdue", lambda self, id: 0.0)
    monkeypatch.setattr(outcome, "KILL_MARGIN", 0.0)
    assert lab.wait(handle).reason == "its time was up"


def test_another_engine_is_never_believed_to_know_what_is_gone(lab: Lab) -> None:
    with pytest.raises(BackendError, match="another Docker engine"):
        lab.backend.status([Handle(name="mle-x-1", id="0" * 64 + "@somewhere")])


def test_data_that_the_engine_cannot_see_are_reported_in_words(lab: Lab) -> None:
    with pytest.raises(BackendError, match="does not see the data") as error:
        lab.start("true", data="/no/such/folder")
    assert "File sharing" in str(error.value)
    assert lab.left() == {}


def test_a_container_of_somebody_else_is_left_alone(lab: Lab) -> None:
    job = lab.job("true")
    other = lab.engine.api.create_container(lab.image.ref, ["true"], name=job.name)["Id"]
    try:
        with pytest.raises(BackendError, match="did not start"):
            lab.backend.start(job)
        lab.backend.remove(Handle(name=job.name, id=""))
        assert lab.engine.api.inspect_container(other)["Id"] == other
    finally:
        lab.engine.api.remove_container(other)


def test_data_must_be_readable_for_the_agent(lab: Lab, tmp_path: Path) -> None:
    assert lab.backend.stage_data(lab.dataset, lambda *_: None) == str(lab.dataset.public)
    (lab.dataset.public / "train.csv").chmod(0o600)
    with pytest.raises(BackendError, match="cannot be read by others"):
        lab.backend.stage_data(lab.dataset, lambda *_: None)
