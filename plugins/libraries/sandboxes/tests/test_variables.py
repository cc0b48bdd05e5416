"""The variables of a job and its secrets, the same on every backend."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Any

import pytest
from attrs import evolve

from mlecore.errors import BackendError
from mlecore.model.backends import Job, Resources
from mlecore_sandboxes.variables import environment
from mlecore_sandboxes.variables import secret_values as secrets
from mlecore_testing.backends.harness import shell_job

JOB = shell_job(name="mle-x-1")


def asking(**resources: Any) -> Job:
    return evolve(JOB, resources=Resources(**resources))


def test_what_init_reads_is_not_the_agents_to_change() -> None:
    job = evolve(
        asking(time_limit=60.0, cpus=1.5, memory=2**30), env={"MLECORE_TIME_LIMIT": "9", "MLECORE_CPUS": "99", "X": "y"}
    )
    env = environment(job)
    assert (env["MLECORE_TIME_LIMIT"], env["MLECORE_CPUS"], env["MLECORE_MEMORY"]) == ("60.00", "1.5", str(2**30))
    assert (env["MLECORE_HOME"], env["MLECORE_OPT"], env["X"]) == ("/home", "/opt/mlecore", "y")
    assert not {"MLECORE_CPUS", "MLECORE_MEMORY", "HTTP_PROXY"} & environment(JOB).keys()


def test_paths_are_those_that_the_job_sees() -> None:
    home, user_home = PurePosixPath("/j/home"), PurePosixPath("/j/home/agent")
    env = environment(JOB, home=home, tools=PurePosixPath("/j/opt"), tmp=PurePosixPath("/j/tmp"), user_home=user_home)
    assert (env["HOME"], env["MLECORE_HOME"]) == (str(user_home), str(home))
    assert (env["MLECORE_OPT"], env["TMPDIR"]) == ("/j/opt", "/j/tmp")
    assert environment(JOB, home=home)["HOME"] == str(home)


def test_a_job_counts_its_gpus_from_0_unless_it_sees_others_too() -> None:
    assert environment(JOB)["CUDA_VISIBLE_DEVICES"] == ""
    assert environment(asking(gpus=2))["CUDA_VISIBLE_DEVICES"] == "0,1"
    assert environment(asking(gpus=2), gpus=["3", "5"])["CUDA_VISIBLE_DEVICES"] == "3,5"


@pytest.mark.parametrize(
    ("allow", "around"),
    [
        (("api.example.com:443",), "localhost,127.0.0.1,::1"),
        (("localhost:8000", "[::1]:8000"), "127.0.0.1"),
        (("127.0.0.1",), "localhost,::1"),
    ],
)
def test_a_model_on_this_machine_is_reached_through_the_relay(allow: tuple[str, ...], around: str) -> None:
    env = environment(asking(network="llm", allow=allow), proxy="http://relay:1")
    assert env["NO_PROXY"] == env["no_proxy"] == around
    assert {env[name] for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy")} == {"http://relay:1"}


def test_secrets_come_from_here_and_only_those_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEY", "value")
    monkeypatch.delenv("OTHER", raising=False)
    assert secrets(asking(secrets=("KEY",))) == {"KEY": "value"}
    assert "KEY" not in environment(asking(secrets=("KEY",)))
    with pytest.raises(BackendError, match="export OTHER="):
        secrets(asking(secrets=("KEY", "OTHER")))
    with pytest.raises(BackendError, match="no variable can have"):
        secrets(asking(secrets=("A B",)))
