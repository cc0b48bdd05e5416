"""What `mlecore doctor` says of a cluster, and what keeps runs from it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from mle_backend_kubernetes.kubernetes_backend import KubernetesBackend
from mle_backend_kubernetes.preflight import NEEDED_RIGHTS

from mlecore.errors import BackendError, BackendUnreachable
from mlecore.model.backends import Resources

if TYPE_CHECKING:
    from conftest import Lab, Server

PAGE = Path(__file__).parents[4] / "docs" / "kubernetes.md"
KUEUE = "kueue.x-k8s.io"
CLASSES = "/apis/storage.k8s.io/v1/storageclasses"


def named(name: str, **more: Any) -> dict[str, Any]:
    return {"metadata": {"name": name}, **more}


def node(name: str, gpus: int, **spec: Any) -> dict[str, Any]:
    return named(name, spec=spec, status={"allocatable": {"cpu": "8", "memory": "64Gi", "nvidia.com/gpu": str(gpus)}})


def pod(on: str, gpus: int) -> dict[str, Any]:
    return {
        "spec": {
            "nodeName": on,
            "containers": [{"name": "a", "resources": {"requests": {"nvidia.com/gpu": str(gpus)}}}],
        }
    }


@pytest.fixture
def lab_cluster(server: Server) -> Server:
    """Two nodes with GPUs and one without, three GPUs in use, a storage class, and Kueue."""
    mark = {"storageclass.kubernetes.io/is-default-class": "true"}
    server.lists |= {
        "/api/v1/nodes": [node("a", 8), node("b", 4), node("c", 0)],
        "/api/v1/pods": [pod("a", 2), pod("b", 1)],
        CLASSES: [{"metadata": {"name": "fast", "annotations": mark}}],
        f"/apis/{KUEUE}/v1beta2/namespaces/lab/localqueues": [named("gpus")],
    }
    server.objects[f"/apis/{KUEUE}"] = {"preferredVersion": {"groupVersion": f"{KUEUE}/v1beta2"}}
    return server


def problems(backend: KubernetesBackend, **resources: Any) -> list[tuple[str, bool]]:
    return [(each.description, each.fatal) for each in backend.preflight([Resources(**resources)])]


def test_rights_that_are_checked_are_those_of_the_documented_role() -> None:
    (text,) = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    documented = {
        (group, resource, verb)
        for rule in yaml.safe_load(text)["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
        if group != KUEUE and resource != "events"  # without them only the reason why a run waits is not known
    }
    checked = {
        (each.group, "/".join(filter(None, (each.resource, each.subresource))), each.verb) for each in NEEDED_RIGHTS
    }
    assert documented == checked


def test_missing_rights_are_named(backend: KubernetesBackend, lab_cluster: Server) -> None:
    lab_cluster.forbidden = {"create jobs", "watch pods"}
    ((what, fatal),) = problems(backend)
    assert "create jobs, watch pods" in what and fatal


@pytest.mark.parametrize(
    ("resources", "words", "fatal"),
    [
        ({"gpus": 9}, "no node has more than 8", True),
        ({"cpus": 9.0}, "9 CPUs requested, but the largest node has 8", True),
        ({"memory": 2**37}, "the largest node has 64.0 GiB", True),
    ],
)
def test_more_than_any_node_has_is_refused(
    backend: KubernetesBackend, lab_cluster: Server, resources: dict[str, Any], words: str, fatal: bool
) -> None:
    ((what, is_fatal),) = problems(backend, **resources)
    assert words in what and is_fatal == fatal


def test_what_is_not_free_now_is_waited_for(backend: KubernetesBackend, lab_cluster: Server) -> None:
    assert problems(backend, gpus=6) == []
    ((what, fatal),) = problems(backend, gpus=7)  # nine are free, but on two nodes
    assert "no node has over 6 free now: runs wait" in what and not fatal
    lab_cluster.lists["/api/v1/nodes"] = [node("a", 8, unschedulable=True)]
    assert ("all nodes are cordoned: runs wait", False) in problems(backend)


def test_storage_and_queues_that_are_not_there_are_named(server: Server, lab_cluster: Server) -> None:
    def of(**options: str) -> list[tuple[str, bool]]:
        return problems(KubernetesBackend({"namespace": "lab", "helper": "h", **options}))

    assert of() == []
    assert of(**{"storage-class": "slow"}) == [("no storage class slow; available: fast", True)]
    assert of(queue="mine") == [("there is no LocalQueue mine in lab", True)]
    lab_cluster.lists[CLASSES] = [named("fast")]
    assert of() == of(output="pod") == [("the cluster has no default storage class", True)]
    assert of(output="pod", **{"data-claim": "ours"}) == []  # no claim is made


@pytest.mark.parametrize(
    ("error", "fix", "fatal"),
    [
        (BackendError('pods "x" is forbidden: violates PodSecurity "restricted:latest"'), "-B pod-template", True),
        (BackendError("error looking up service account lab/me"), "serviceAccountName in -B pod-template", True),
        (BackendError('admission webhook "policy" denied the request'), "administrator", True),
        (BackendUnreachable("exceeded quota: gpus", fix="Wait."), "Wait.", False),
    ],
)
def test_pods_that_the_cluster_would_reject_are_known_before_the_start(
    backend: KubernetesBackend, lab_cluster: Server, error: BackendError, fix: str, fatal: bool
) -> None:
    lab_cluster.broken["/api/v1/namespaces/lab/pods"] = error
    (found,) = backend.preflight([Resources()])
    assert error.message in found.description and fix in found.fix and found.fatal == fatal


def test_a_cluster_that_does_not_answer_is_the_only_problem(backend: KubernetesBackend, server: Server) -> None:
    server.broken["/version"] = BackendUnreachable("no answer", fix="kubectl cluster-info")
    assert problems(backend, gpus=99) == [("no answer", True)]


@pytest.mark.kubernetes
@pytest.mark.slow
@pytest.mark.xdist_group("kubernetes-2")
def test_doctor_looks_at_a_real_cluster(lab: Lab, command: Callable[..., str]) -> None:
    said = command("doctor")
    words = f"namespace {lab.cluster.namespace}", "nodes: 1", "storage classes:", "Kueue", "NetworkPolicies"
    assert [each for each in words if each not in said] == []
