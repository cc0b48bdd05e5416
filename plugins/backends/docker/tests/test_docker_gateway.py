"""A job with a model: its gateway in its own container, the key where only that container has it."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mle_backend_docker.gateway import CALLS

from mlecore.model.model_access import ModelAccess
from mlecore.runs.measured import measure
from mlecore_sandboxes.containers import names
from mlecore_testing.models import Answer, Model, Script, scripted_model
from mlecore_testing.models.client import ASK

pytestmark = [pytest.mark.docker, pytest.mark.network]  # the gateway's image is built from packages

KEY = "sk-real-0123456789abcdef"


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[Model]:
    """On this machine's loopback, where people have vLLM and Ollama."""
    monkeypatch.setenv("TEST_MODEL_KEY", KEY)
    with scripted_model(Script(key=KEY, answers=(Answer(text="fine", times=0),))) as running:
        yield running


def access(model: Model, **values: Any) -> ModelAccess:
    return ModelAccess(endpoint=model.url, key="TEST_MODEL_KEY", **{"models": ("scripted",), **values})


def test_calls_are_counted_and_the_key_is_nowhere(lab: Any, model: Model, tmp_path: Path) -> None:
    look = (
        "print(ask(), ask('other'), ask(), ask(), flush=True)\n"
        "import subprocess\n"
        "where = '/home /tmp /etc /opt /run /proc/self/environ /proc/1/environ /proc/1/cmdline'.split()\n"
        "argv = ['grep', '-rlas', 'sk-real-01234567' + '89abcdef', *where]\n"
        "print(repr(subprocess.run(argv, capture_output=True, text=True).stdout), flush=True)\n"
    )
    given = access(model, budgets=("2calls",), transcripts=True, max_calls=2)
    handle = lab.start(argv=("python3", "-c", ASK + look), network="llm", model=given)
    api = lab.engine.api
    shown = json.dumps([api.inspect_container(each["Id"]) for each in containers(lab, handle.name)])
    image = api.inspect_container(names.gateway(handle.name))["Image"]
    shown += json.dumps([api.inspect_image(image), api.history(image)])
    assert lab.wait(handle).exit_code == 0
    assert lab.printed(handle) == "fine 403 fine 429\n''\n"
    for each in containers(lab, handle.name):
        shown += api.logs(each["Id"]).decode()
    assert "/settings/settings.json" in shown and KEY not in shown
    lab.backend.fetch(handle, ["logs"], tmp_path / "out", 10**8, 100)
    measured = measure(tmp_path / "out/logs/gateway.jsonl", ("2calls",))
    assert measured is not None
    assert (measured.calls, measured.refused, measured.exhausted) == (2, 2, "2calls")
    assert (measured.input_tokens, measured.output_tokens) == (model.served.input, model.served.output)
    assert (tmp_path / "out/logs/transcripts.jsonl.zst").stat().st_size > 0
    for path in tmp_path.rglob("*"):
        assert not path.is_file() or KEY.encode() not in path.read_bytes()
    lab.backend.stop(handle, 0.0)
    assert not lab.engine.api.inspect_container(names.gateway(handle.name))["State"]["Running"]
    lab.backend.remove(handle)
    assert containers(lab, handle.name) == []
    mounted = {mount.get("Name") for each in api.containers(all=True) for mount in each["Mounts"]}
    there = {each["Name"] for each in api.volumes()["Volumes"] or ()}
    assert CALLS in mounted or CALLS not in there  # no other job counts its calls there


def test_a_gateway_that_dies_is_started_again_and_remembers(lab: Any, model: Model) -> None:
    script = ASK + (
        "print(ask(), flush=True)\nwhile not os.path.exists('/home/logs/go'): time.sleep(0.05)\n"
        "while True:\n try: print(ask()); break\n except OSError: time.sleep(0.1)\nprint(ask())"
    )
    handle = lab.start(argv=("python3", "-c", script), network="llm", model=access(model, budgets=("2calls",)))
    lab.said(handle, "fine")
    api = lab.engine.api
    gateway = names.gateway(handle.name)
    os.kill(api.inspect_container(gateway)["State"]["Pid"], signal.SIGKILL)
    deadline = time.monotonic() + 60
    while not (state := api.inspect_container(gateway))["RestartCount"] or not state["State"]["Running"]:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    lab.let_go(handle)
    assert lab.wait(handle).exit_code == 0
    assert lab.printed(handle) == "fine\nfine\n429\n"


def containers(lab: Any, job: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = lab.engine.api.containers(all=True, filters={"label": f"{names.JOB}={job}"})
    return found
