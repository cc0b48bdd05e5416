"""A namespace of the cluster that KUBECONFIG names, jobs in it, and a check at the end that nothing of them is left.

Each test removes its jobs without waiting for the cluster to delete them; the check waits once, for all of them.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeVar

import pytest
from kubernetes_validate import utils as kubernetes_schemas
from mle_backend_kubernetes import names
from mle_backend_kubernetes.cluster import Cluster, Exists, NotFound
from mle_backend_kubernetes.kubernetes_backend import KubernetesBackend
from mle_backend_kubernetes.manifests import merged
from mle_backend_kubernetes.network import Probe
from mle_backend_kubernetes.watch import Watch

from mlecore.errors import BackendError
from mlecore.model.backends import Handle
from mlecore_sandboxes.containers import id_of
from mlecore_testing.backends.harness import Lab as AnyLab
from mlecore_testing.rules import Stop

# The library reads hundreds of kilobytes of JSON for each check.
kubernetes_schemas.schema_contents = cache(kubernetes_schemas.schema_contents)

T = TypeVar("T")
REGISTRY = os.environ.get("MLECORE_TEST_REGISTRY", "localhost:5000")
OFFLINE = {
    "namespace": "lab",
    "image": "image",
    "helper": "helper",
    "pod-template": json.dumps(
        {
            "spec": {
                "nodeSelector": {"pool": "agents"},
                "tolerations": [{"key": "gpu", "operator": "Exists", "effect": "NoSchedule"}],
                "imagePullSecrets": [{"name": "pull"}],
            }
        }
    ),
    "labels": "team=a",
}
KINDS = ("jobs", "pods", "configmaps", "secrets", "persistentvolumeclaims", "services", "networkpolicies")


class Lab(AnyLab[KubernetesBackend]):
    """One backend with a group of its own."""

    def __init__(self, namespace: str, folder: Path, **options: str) -> None:
        self.options = {"registry": REGISTRY, "namespace": namespace, "storage": "1GiB", **options}
        super().__init__(folder)
        self.backend = KubernetesBackend(self.options)
        self.cluster = self.backend.cluster

    def fetch(self, handle: Handle, *globs: str) -> dict[str, bytes]:
        into = self.folder / uuid.uuid4().hex
        self.backend.fetch(handle, globs, into, 1 << 26, 1000)
        return {path.relative_to(into).as_posix(): path.read_bytes() for path in into.rglob("*") if path.is_file()}

    def pod(self, handle: Handle) -> str:
        """The name of the agent's pod."""
        pods = self.backend.cache.pods
        assert pods.until(lambda: pods.agent(id_of(handle)) is not None, 60)
        return (pods.agent(id_of(handle)) or pytest.fail()).name

    def left(self, selector: str = "", *, deleted: bool = True) -> list[str]:
        """What the cluster has with these labels, by default of this group; ``deleted``: also what it is deleting."""
        return [
            f"{kind}/{each['metadata']['name']}"
            for kind in KINDS
            for each in self.cluster.items(
                self.cluster.path(kind), labelSelector=selector or f"{names.GROUP}={self.group}"
            )
            if deleted or not each["metadata"].get("deletionTimestamp")
        ]

    def emptied(self, selector: str = "") -> None:
        """Check that nothing is left. The cluster deletes on its own: a Job goes last, after all that it owns."""
        with contextlib.suppress(Stop):  # a kubelet may take long to end a pod that is deleted
            self.until(lambda: not self.left(selector), seconds=60.0)
        assert self.left(selector, deleted=False) == [], self.folder.name


@pytest.fixture
def command(lab: Lab, tmp_path: Path) -> Callable[..., str]:
    """Runs `mlecore` in a folder of its own, and sees that it succeeds. A command that uses a backend gets this one."""

    def call(*words: str, **variables: str) -> str:
        if words[0] in ("run", "doctor"):
            words += (
                "--backend",
                "kubernetes",
                *(word for pair in lab.options.items() for word in ("-B", "=".join(pair))),
            )
        argv = [sys.executable, "-c", "from mlecore.cli import main; main()", *words]
        env = {**os.environ, "MLECORE_DATA": str(tmp_path / "data"), **variables}
        done = subprocess.run(argv, cwd=tmp_path, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        assert done.returncode == 0, done.stdout
        return done.stdout

    return call


@pytest.fixture(scope="session")
def namespace() -> Iterator[str]:
    """A namespace that takes only pods that keep to the standard "restricted"."""
    import urllib3

    name = f"mlecore-test-{uuid.uuid4().hex[:8]}"
    cluster = Cluster()
    try:
        urllib3.PoolManager(timeout=5, retries=False).request("GET", f"http://{REGISTRY}/v2/")
        labels = {"pod-security.kubernetes.io/enforce": "restricted"}
        made = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}
        cluster.create("/api/v1/namespaces", made)
    except BackendError as error:
        pytest.skip(f"no Kubernetes cluster: {error.message}")
    except urllib3.exceptions.HTTPError:
        pytest.skip(f"no registry at {REGISTRY} (MLECORE_TEST_REGISTRY names another)")
    for _ in range(100):  # a namespace is usable once its certificate is there
        with contextlib.suppress(NotFound):
            cluster.get(f"/api/v1/namespaces/{name}/configmaps/kube-root-ca.crt")
            break
        time.sleep(0.1)
    yield name
    cluster.delete(f"/api/v1/namespaces/{name}")


@pytest.fixture(scope="session")
def labs(namespace: str) -> Iterator[list[Lab]]:
    """All labs of this session. At its end, nothing of them may be left."""
    labs: list[Lab] = []
    yield labs
    for lab in labs:
        lab.emptied()


@pytest.fixture
def make_lab(namespace: str, labs: list[Lab], tmp_path: Path) -> Iterator[Callable[..., Lab]]:
    with contextlib.ExitStack() as stack:

        def make(**options: str) -> Lab:
            lab = Lab(namespace, tmp_path, **options)
            stack.callback(lab.clear)
            labs.append(lab)
            return lab

        yield make


@pytest.fixture(scope="session")
def probe(namespace: str) -> Probe:
    """Whether the cluster enforces NetworkPolicies, found out once."""
    backend = KubernetesBackend({"registry": REGISTRY, "namespace": namespace})
    probe = Probe(backend.cluster, backend.settings, backend.images, backend.cache.pods)
    probe.verdict()
    return probe


@pytest.fixture
def lab(make_lab: Callable[..., Lab]) -> Lab:
    return make_lab()


class Server:
    """In place of a cluster: keeps what it is sent, if it is valid. Nothing runs there."""

    def __init__(self) -> None:
        self.objects: dict[str, dict[str, Any]] = {
            "/api/v1/namespaces/lab/configmaps/kube-root-ca.crt": {"metadata": {"uid": "cluster"}},
            "/api/v1/namespaces/lab": {"metadata": {"name": "lab"}},
            "/version": {"gitVersion": "v1.34.0"},
            "/api/v1/namespaces/default/services/kubernetes": {
                "metadata": {},
                "spec": {"clusterIPs": ["10.0.0.1", "fd00::1"]},
            },
        }
        self.lists: dict[str, list[dict[str, Any]]] = {
            "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices": [
                {"endpoints": [{"addresses": ["192.0.2.7"]}]}
            ]
        }
        self.broken: dict[str, Exception] = {}  # path -> what a request raises
        self.forbidden: set[str] = set()  # "create jobs"
        self.sent: list[dict[str, Any]] = []

    def request(self, method: str, path: str, *, body: Any = None, query: Any = None, kind: str = "") -> dict[str, Any]:
        if path in self.broken:
            raise self.broken[path]
        if method == "POST" and "dryRun" in (query or {}):
            kubernetes_schemas.validate(dict(body), "1.34", strict=True)
            return dict(body)
        if method == "POST":
            return self._take(path, body)
        if path in self.lists:
            return {"metadata": {}, "items": self.lists[path]}
        if path not in self.objects:
            raise NotFound(path)
        if method == "DELETE":
            return self.objects.pop(path)
        if method == "PATCH":
            self.objects[path] = merged(self.objects[path], body)
        return self.objects[path]

    def _take(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        kubernetes_schemas.validate(dict(body), "1.34", strict=True)
        if body["kind"] == "SelfSubjectAccessReview":
            asked = body["spec"]["resourceAttributes"]
            return {"status": {"allowed": f"{asked['verb']} {asked['resource']}" not in self.forbidden}}
        name = body["metadata"]["name"]
        if f"{path}/{name}" in self.objects:
            raise Exists(name)
        made = {**body, "metadata": {**body["metadata"], "uid": f"uid-of-{name}"}}
        if body["kind"] == "Service":
            made["spec"] = {**body["spec"], "clusterIP": "10.0.0.9"}
        self.objects[f"{path}/{name}"] = made
        self.sent.append(made)
        return made

    def pods(self) -> dict[str, dict[str, Any]]:
        """What was sent that pods are made of: their labels and spec, by the role of the pod."""
        found = {}
        for each in self.sent:
            pod = each if each["kind"] == "Pod" else each["spec"].get("template") if "spec" in each else None
            if pod is not None:
                found[pod["metadata"]["labels"][names.ROLE]] = pod
        return found

    def having(self, text: str) -> list[str]:
        """Names of the objects in which this text is, encoded or not."""
        found = []
        for each in self.sent:
            encoded = {**each.get("data", {}), **each.get("binaryData", {})}.values()
            if text in str(each) or any(text.encode() in base64.b64decode(value) for value in encoded):
                found.append(each["metadata"]["name"])
        return found


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Server:
    """In place of the cluster; nothing that is waited for happens there."""
    server = Server()
    monkeypatch.setattr(Cluster, "configuration", SimpleNamespace(host="https://192.0.2.1"))
    monkeypatch.setattr(Cluster, "request", lambda cluster, *words, **more: server.request(*words, **more))
    monkeypatch.setattr(Watch, "_listening", lambda watch: watch._changed)
    monkeypatch.setattr(Watch, "until", lambda *_: False)
    return server


@pytest.fixture
def backend(server: Server) -> KubernetesBackend:
    return KubernetesBackend(OFFLINE)
