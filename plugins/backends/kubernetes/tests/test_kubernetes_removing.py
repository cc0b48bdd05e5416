"""A run is stopped and removed with a request or two: nobody waits for how long the cluster needs to end it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from mle_backend_kubernetes import kubernetes_backend, names
from mle_backend_kubernetes.kubernetes_backend import KubernetesBackend

from mlecore.errors import BackendError

LABELS = {names.ROLE: names.AGENT, names.JOB: "run"}
JOB: dict[str, Any] = {
    "metadata": {"name": "run", "uid": "u", "labels": LABELS},
    "spec": {},
    "status": {"startTime": "2026-01-01T00:00:00Z"},
}
POD: dict[str, Any] = {
    "metadata": {"name": "run-x", "uid": "p", "labels": LABELS, "ownerReferences": [{"kind": "Job", "uid": "u"}]},
    "spec": {},
    "status": {"phase": "Running", "containerStatuses": [{"name": names.AGENT, "state": {"running": {}}}]},
}


class Slow:
    """A cluster that still has a running Job after it was asked to delete it, and whose watches say nothing."""

    id = "c"

    def __init__(self) -> None:
        self.pods = [POD]
        self.patched: list[tuple[str, dict[str, Any]]] = []
        self.deleted: list[tuple[str, dict[str, Any]]] = []

    def path(self, kind: str, name: str = "") -> str:
        return f"{kind}/{name}"

    def pages(self, path: str, **query: Any) -> Iterator[dict[str, Any]]:
        yield {"metadata": {"resourceVersion": "1"}, "items": [JOB] if path == "jobs/" else self.pods}

    @contextmanager
    def events(self, path: str, idle: float, **query: Any) -> Iterator[Iterator[dict[str, Any]]]:
        yield self._none()

    def _none(self) -> Iterator[dict[str, Any]]:
        threading.Event().wait()
        yield {}

    def get(self, path: str) -> dict[str, Any]:
        return JOB

    def patch(self, path: str, body: dict[str, Any]) -> None:
        self.patched.append((path, body))

    def delete(self, path: str, **options: Any) -> None:
        self.deleted.append((path, options))


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Slow:
    slow = Slow()
    monkeypatch.setattr(kubernetes_backend, "Cluster", lambda *_: slow)
    return slow


@pytest.mark.parametrize("output", ["claim", "pod"])
def test_nobody_waits_for_a_job_that_is_removed_and_it_is_gone(slow: Slow, tmp_path: Path, output: str) -> None:
    backend, handle = KubernetesBackend({"output": output}), names.handle("run", "u", "c")
    assert backend.status([handle])[handle].phase == "running"
    backend.remove(handle)
    assert slow.deleted == [("jobs/run", {"propagationPolicy": "Foreground", "preconditions": {"uid": "u"}})]
    assert backend.status([handle])[handle].phase == "gone"
    with pytest.raises(BackendError, match="no longer in this cluster"):
        backend.fetch(handle, ["logs"], tmp_path / "out", 1, 1)


def test_the_kubelet_ends_a_pod_whose_files_outlive_it(slow: Slow) -> None:
    KubernetesBackend({}).stop(names.handle("run", "u", "c"), 60.0)
    ((path, change),) = slow.patched
    assert path == "jobs/run" and names.STOPPED in change["metadata"]["annotations"] and "spec" not in change
    assert slow.deleted == [("pods/run-x", {"gracePeriodSeconds": 63})]


def test_a_run_that_is_stopped_before_it_has_a_pod_gets_none(slow: Slow) -> None:
    slow.pods = []
    KubernetesBackend({}).stop(names.handle("run", "u", "c"), 60.0)
    ((_, change),) = slow.patched
    assert names.STOPPED in change["metadata"]["annotations"] and change["spec"] == {"suspend": True}
    assert not slow.deleted
