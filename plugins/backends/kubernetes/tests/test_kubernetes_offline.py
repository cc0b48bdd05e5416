"""Every manifest that is sent is valid, and what is not known of a cluster is not claimed. No cluster is needed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from mle_backend_kubernetes import names, network
from mle_backend_kubernetes.cluster_cache import job_of, pod_of
from mle_backend_kubernetes.exec import Broken, Stream
from mle_backend_kubernetes.kubernetes_backend import KubernetesBackend

from mlecore.errors import BackendError, BackendUnreachable
from mlecore.model.backends import Dataset, Job, Resources
from mlecore.model.model_access import ModelAccess
from mlecore_sandboxes.containers import id_of
from mlecore_testing.backends.harness import shell_job

if TYPE_CHECKING:
    from conftest import Server

SLICES = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices"
JOB = "/apis/batch/v1/namespaces/lab/jobs/mle-abc-1"
API_SERVER = "/api/v1/namespaces/default/services/kubernetes"


def job(tmp_path: Path, **resources: Any) -> Job:
    (tmp_path / "train.csv").write_text("id\n1\n")
    dataset = Dataset(competition="toy", edition="v1", public=tmp_path, digest="d")
    tools = {"init": b"#!/bin/sh\n"}
    return shell_job(name="mle-abc-1", dataset=dataset, data="claim/public", tools=tools, **resources)


def model() -> ModelAccess:
    return ModelAccess(endpoint="https://model.example.com/v1", key="TEST_MODEL_KEY", models=("m",))


def test_all_that_is_sent_is_valid_and_every_pod_goes_where_the_lab_wants_it(
    backend: KubernetesBackend, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_MODEL_KEY", "sk-planted-4711")
    monkeypatch.setenv("AGENT_KEY", "sk-agent-4711")
    wanted = job(
        tmp_path, network="llm", model=model(), allow=("example.com",), cpus=1, memory=2**30, secrets=("AGENT_KEY",)
    )
    handle = backend.start(wanted)
    server.objects[JOB]["status"] = {"startTime": "2026-01-01T00:00:00Z"}
    with pytest.raises(BackendUnreachable, match="does not start"):
        backend.fetch(handle, ["logs"], tmp_path / "out", 1 << 20, 10)
    with pytest.raises(BackendUnreachable, match="does not start"):
        backend.stage_data(wanted.dataset, lambda done, total, what: None)
    assert not backend.describe().network_verified  # its probe pods have not ended

    kinds = {each["kind"] for each in server.sent}
    assert kinds >= {"Job", "Service", "ReplicaSet", "Pod", "NetworkPolicy", "Secret", "ConfigMap"}
    assert "PersistentVolumeClaim" in kinds
    pods = server.pods()
    assert set(pods) == {"agent", "gateway", "files", "loader", "probe"}
    toleration = {"key": "gpu", "operator": "Exists", "effect": "NoSchedule"}
    for role, pod in pods.items():
        spec = pod["spec"]
        assert spec["nodeSelector"] == {"pool": "agents"} and toleration in spec["tolerations"], role
        assert spec["imagePullSecrets"] == [{"name": "pull"}] and not spec["automountServiceAccountToken"], role
        assert pod["metadata"]["labels"]["team"] == "a", role
        assert spec["securityContext"]["runAsNonRoot"], role
        for container in (*spec.get("initContainers", ()), *spec["containers"]):
            assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}, role
            assert container["resources"].get("limits"), role
    assert server.having("sk-planted-4711") == ["mle-abc-1-gateway"]
    assert server.having("sk-agent-4711") == ["mle-abc-1"]
    (kept,) = (each for each in server.sent if each["kind"] == "Secret" and each["metadata"]["name"] == "mle-abc-1")
    assert kept["metadata"]["ownerReferences"][0]["name"] == "mle-abc-1"  # it goes with the run
    (secret,) = (each for each in server.sent if each["metadata"]["name"] == "mle-abc-1-gateway" and "data" in each)
    assert secret["kind"] == "Secret"


def test_a_run_that_is_stopped_before_it_has_a_pod_gets_none(
    backend: KubernetesBackend, server: Server, tmp_path: Path
) -> None:
    backend.stop(backend.start(job(tmp_path)), 1.0)
    assert server.objects[JOB]["spec"]["suspend"]
    assert names.STOPPED in server.objects[JOB]["metadata"]["annotations"]


def test_the_pod_that_gave_out_files_is_removed_by_name(
    backend: KubernetesBackend, server: Server, tmp_path: Path
) -> None:
    """A garbage collector that has not seen it would wait for its claim, and never end."""
    handle = backend.start(job(tmp_path))
    for name in (handle.name, "mle-other-1"):
        meta = {"name": names.files(name), "uid": name, "labels": {names.JOB: name, names.ROLE: "files"}}
        server.objects[f"/api/v1/namespaces/lab/pods/{name}-files"] = raw = {"metadata": meta}
        backend.cache.pods._put(pod_of(raw))
    backend.remove(handle)
    assert [path.rpartition("/")[2] for path in server.objects if "/pods/" in path] == ["mle-other-1-files"]
    assert JOB not in server.objects


def test_a_job_that_is_being_deleted_is_gone_even_while_its_pod_is_there(
    backend: KubernetesBackend, server: Server, tmp_path: Path
) -> None:
    handle = backend.start(job(tmp_path))
    raw = server.objects[JOB]
    owner = {"kind": "Job", "uid": id_of(handle)}
    meta = {"name": "p", "uid": "p", "labels": {names.JOB: handle.name, names.ROLE: names.AGENT}}
    backend.cache.pods._put(pod_of({"metadata": {**meta, "ownerReferences": [owner]}}))
    for changes, phase in (({}, "pending"), ({"deletionTimestamp": "2026-01-01T00:00:00Z"}, "gone")):
        backend.cache.jobs._put(job_of({**raw, "metadata": {**raw["metadata"], **changes}}))
        assert backend.status([handle])[handle].phase == phase


def test_an_open_network_is_kept_from_the_api_server_by_address(
    backend: KubernetesBackend, server: Server, tmp_path: Path
) -> None:
    wanted = job(tmp_path, network="open")
    (policy,) = network.policies(backend.cluster, wanted, {}, [])
    blocks = {each["ipBlock"]["cidr"]: each["ipBlock"]["except"] for each in policy["spec"]["egress"][0]["to"]}
    assert blocks == {
        "0.0.0.0/0": [*network.METADATA, "10.0.0.1/32", "192.0.2.7/32"],
        "::/0": [*network.METADATA_6, "fd00::1/128"],
    }
    assert "100.100.100.200/32" in network.METADATA and "fd00:ec2::254/128" in network.METADATA_6
    assert network.awaited(backend.cluster, wanted, True) == (network.LATE, True)


@pytest.mark.parametrize("path", [SLICES, API_SERVER])
def test_addresses_that_may_not_be_read_are_reported_and_no_policy_is_waited_for(
    backend: KubernetesBackend, server: Server, tmp_path: Path, path: str
) -> None:
    server.broken[path] = BackendError("forbidden")
    wanted = job(tmp_path, network="open")
    (policy,) = network.policies(backend.cluster, wanted, {}, [])
    assert [each["ipBlock"]["except"] for each in policy["spec"]["egress"][0]["to"]] == [
        [*network.METADATA],
        [*network.METADATA_6],
    ]
    assert network.awaited(backend.cluster, wanted, True) == (0.0, False)
    (problem,) = network.problems(backend.cluster, [wanted.resources])
    assert "API server" in problem.description and not problem.fatal
    assert list(network.problems(backend.cluster, [Resources()])) == []


@pytest.mark.parametrize("path", [SLICES, API_SERVER])
def test_a_server_that_does_not_answer_leaves_no_run_open_to_it(
    backend: KubernetesBackend, server: Server, tmp_path: Path, path: str
) -> None:
    server.broken[path] = BackendUnreachable("no answer")
    wanted = job(tmp_path, network="open")
    with pytest.raises(BackendUnreachable):
        backend.start(wanted)
    assert [each["kind"] for each in server.sent] == []
    del server.broken[path]
    backend.start(wanted)  # nothing wrong was remembered
    (policy,) = (each for each in server.sent if each["kind"] == "NetworkPolicy")
    assert "192.0.2.7/32" in str(policy["spec"]["egress"])


@pytest.mark.parametrize(("exit_code", "error"), [(1, BackendError), (137, Broken)])
def test_a_helper_that_was_killed_is_started_again_and_one_that_failed_is_not(
    exit_code: int, error: type[Exception]
) -> None:
    causes = [{"reason": "ExitCode", "message": str(exit_code)}]
    status = {"status": "Failure", "reason": "NonZeroExitCode", "message": "it ended", "details": {"causes": causes}}

    class Socket:
        def recv_data(self) -> tuple[int, bytes]:
            return 2, b"\x03" + json.dumps(status).encode()

    with pytest.raises(error, match="it ended"):
        Stream(Socket()).read()
