"""A host's sandbox is the one that this machine makes: read-only data, and a gateway beside the job."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import pytest
from mle_backend_ssh.host import Host
from mle_backend_ssh.hosts import HostSettings
from mlecore_testing.models import Answer, Script, scripted_model
from mlecore_testing.models.client import ASK

import mlecore.sandbox
from mlecore.agents import Recipe
from mlecore.backends import Dataset, Handle, Job, JobStatus, Resources
from mlecore.model_access import ModelAccess
from mlecore.runs.measured import measure

pytestmark = [pytest.mark.sandbox, pytest.mark.slow]

INIT = Path(mlecore.sandbox.__file__).parent / "init"
KEY = "sk-real-0123456789abcdef"


@pytest.fixture
def sandboxed(link: Any) -> Host:
    return Host(HostSettings(address=link.name, python=sys.executable), link, {})


def start(host: Host, folder: Path, *argv: str, **resources: Any) -> Handle:
    public = folder / "public"
    public.mkdir()
    (public / "train.csv").write_text("id,y\n")
    dataset = Dataset(competition="c", edition="v1", public=public, digest="d")
    return host.start(
        Job(
            name="mle-1",
            group="g",
            image=host.build(Recipe(), folder / "build.log"),
            dataset=dataset,
            data=host.send(dataset, lambda *_: None),
            argv=argv,
            tools={"init": INIT},
            resources=Resources(**{"time_limit": 300.0, "grace": 1.0, **resources}),
        )
    )


def wait(host: Host, handle: Handle) -> JobStatus:
    limit = time.monotonic() + 60
    status: JobStatus
    while (status := host.call("status", (handle,))[handle]).phase not in ("exited", "gone"):
        assert time.monotonic() < limit
        time.sleep(0.05)
    return status


def test_data_are_read_only_and_the_home_is_the_usual_one(sandboxed: Host, tmp_path: Path) -> None:
    script = "pwd; cat /home/data/train.csv; echo x >> data/train.csv || echo refused; touch data/new || echo refused"
    handle = start(sandboxed, tmp_path, "sh", "-c", f"({script}) 2>/dev/null")
    assert wait(sandboxed, handle).exit_code == 0
    assert b"".join(sandboxed.logs(handle, 0, False)) == b"/home\nid,y\nrefused\nrefused\n"
    sandboxed.call("remove", handle)


def test_the_gateway_runs_beside_the_job_and_its_key_is_nowhere(
    sandboxed: Host, link: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the packages of this test's own Python, so that nothing is installed; mlecore is what was sent."""
    monkeypatch.setenv("TEST_MODEL_KEY", KEY)
    monkeypatch.setattr(Host, "_gateway_python", lambda _: sys.executable)
    with scripted_model(Script(key=KEY, answers=(Answer(text="fine", times=0),))) as model:
        access = ModelAccess(endpoint=model.url, key="TEST_MODEL_KEY", models=("scripted",), budgets=("2calls",))
        script = ASK + "print(ask(), ask(), ask())"
        handle = start(sandboxed, tmp_path, "python3", "-c", script, network="llm", model=access)
        assert wait(sandboxed, handle).exit_code == 0
    assert b"".join(sandboxed.logs(handle, 0, False)) == b"fine fine 429\n"
    sandboxed.fetch(handle, ["logs"], tmp_path / "into", 10**6, 10)
    measured = measure(tmp_path / "into" / "logs" / "gateway.jsonl", ("2calls",))
    assert measured is not None and measured.calls == 2
    assert not any(KEY in command for command in link.commands)
    for path in link.home.rglob("*"):
        if path.is_file() and not path.is_symlink():
            assert KEY.encode() not in path.read_bytes(), path
    sandboxed.call("remove", handle)
