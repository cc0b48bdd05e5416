"""What runs reach: nothing, their model through a gateway that alone has the key, never the cluster's own servers."""

from __future__ import annotations

import socket
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from mle_backend_kubernetes import names

from mlecore.model.model_access import ModelAccess
from mlecore.runs.measured import measure
from mlecore_testing.models import Answer, Model, Script, scripted_model

if TYPE_CHECKING:
    from mle_backend_kubernetes.network import Probe

    from conftest import Lab

pytestmark = [pytest.mark.kubernetes, pytest.mark.slow, pytest.mark.xdist_group("kubernetes-2")]

REACH = """
import os, socket, sys
for host, port in [(os.environ["KUBERNETES_SERVICE_HOST"], 443), *[place.split(":") for place in sys.argv[1:]]]:
    try:
        socket.create_connection((host, int(port)), timeout=3).close()
        print("reached", flush=True)
    except OSError:
        print("no", flush=True)
"""
ASK = """
import json, os, subprocess, urllib.request
def ask(model):
    body = json.dumps({"model": model, "messages": [{"role": "user", "content": "hello"}]}).encode()
    headers = {"Authorization": "Bearer " + os.environ["OPENAI_API_KEY"], "Content-Type": "application/json"}
    try:
        url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
        return json.load(urllib.request.urlopen(urllib.request.Request(url, body, headers), timeout=20))["choices"][0]
    except urllib.error.HTTPError as error:
        return error.code
print(ask("scripted")["message"]["content"], ask("other"), ask("scripted")["message"]["content"], ask("scripted"))
where = "/home /tmp /opt /run /proc/self/environ /proc/1/environ".split()
print(repr(subprocess.run(["grep", "-rlas", "sk-real-01234567" + "89", *where], capture_output=True).stdout))
try:
    urllib.request.urlopen("http://forbidden.invalid/", timeout=20)
except OSError as error:
    print(error)
"""


@pytest.fixture
def enforced(lab: Lab, probe: Probe) -> None:
    if not probe.known:
        pytest.skip(f"this cluster does not enforce policies: {probe.verdict().description}")
    lab.backend._probe = probe


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[Model]:
    """On an address of this machine that is not its loopback."""
    monkeypatch.setenv("TEST_MODEL_KEY", key := "sk-real-0123456789")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as outward:
        outward.connect(("192.0.2.1", 9))
        host = outward.getsockname()[0]
    with scripted_model(Script(key=key, answers=(Answer(text="fine", times=0),)), host=host) as running:
        yield running


def test_none_reaches_nothing_and_open_no_server_of_the_cluster(lab: Lab, enforced: None, model: Model) -> None:
    place = model.url.removeprefix("http://").partition("/")[0]
    handles = [lab.start(argv=("python3", "-c", REACH, place), network=network) for network in ("none", "open")]
    for handle in handles:
        lab.wait(handle)
    assert [lab.output(handle) for handle in handles] == [b"no\nno\n", b"no\nreached\n"]


def test_a_model_is_reached_through_a_gateway_that_counts_and_keeps_the_key(
    lab: Lab, enforced: None, model: Model, tmp_path: Path
) -> None:
    access = ModelAccess(endpoint=model.url, key="TEST_MODEL_KEY", models=("scripted",), budgets=("2calls",))
    handle = lab.start(argv=("python3", "-c", ASK), network="llm", model=access)
    assert lab.wait(handle, seconds=300).exit_code == 0
    output = lab.output(handle).decode().splitlines()
    assert output == ["fine 403 fine 429", "b''", "HTTP Error 403: Forbidden"]
    lab.backend.fetch(handle, ["logs"], tmp_path / "out", 10**8, 100)
    measured = measure(tmp_path / "out/logs/gateway.jsonl", ("2calls",))
    assert measured is not None
    assert (measured.calls, measured.refused) == (2, 2)
    assert b"forbidden.invalid" in (tmp_path / "out/logs/relay.jsonl").read_bytes()
    shown = str(list(lab.cluster.items(lab.cluster.path("pods"), labelSelector=f"{names.JOB}={handle.name}")))
    assert "sk-real-0123456789" not in shown
    assert "settings.json" in shown


def test_another_pod_cannot_use_a_run_s_gateway(lab: Lab, enforced: None, model: Model) -> None:
    access = ModelAccess(endpoint=model.url, key="TEST_MODEL_KEY", models=("scripted",))
    one = lab.start("sleep 120", network="llm", model=access)
    lab.wait(one, "running", seconds=300)
    service = lab.cluster.get(lab.cluster.path("services", names.gateway(one.name)))["spec"]["clusterIP"]
    other = lab.start(argv=("python3", "-c", REACH, f"{service}:3129"), network="llm", model=access)
    lab.wait(other, seconds=300)
    assert lab.output(other) == b"no\nno\n"


def test_a_start_without_a_job_leaves_no_service(make_lab: Callable[..., Lab], monkeypatch: pytest.MonkeyPatch) -> None:
    from mle_backend_kubernetes import manifests

    lab = make_lab()
    job = lab.job(network="llm", allow=("example.com",), name=f"mle-{uuid.uuid4().hex[:12]}-1")

    def cut(*args: object) -> dict[str, object]:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(manifests, "job_object", cut)
        with pytest.raises(KeyboardInterrupt):
            lab.backend.start(job)
    (handle,) = make_lab().backend.list_jobs(lab.group).values()
    lab.backend.remove(handle)
    assert lab.left() == []
