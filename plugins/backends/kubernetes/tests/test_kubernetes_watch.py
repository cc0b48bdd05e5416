"""A watch knows what happened, also when its connection breaks or the server has forgotten where it was."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

import pytest
from mle_backend_kubernetes import watch
from mle_backend_kubernetes.cluster import Cluster, Expired
from mle_backend_kubernetes.cluster_cache import Pods
from mle_backend_kubernetes.names import AGENT, ROLE

from mlecore.errors import BackendUnreachable


def pod(name: str, version: int, phase: str = "Running") -> dict[str, Any]:
    """Of an agent, whose Job's uid is its name."""
    meta = {"name": name, "uid": f"uid of {name}", "resourceVersion": str(version), "labels": {ROLE: AGENT}}
    return {
        "metadata": {**meta, "ownerReferences": [{"kind": "Job", "uid": name}]},
        "spec": {},
        "status": {"phase": phase},
    }


def event(kind: str, found: dict[str, Any]) -> dict[str, Any]:
    return {"type": kind, "object": found}


class Server:
    """Lists pods and plays watches: each a list of events, and what ends it."""

    def __init__(self) -> None:
        self.lists: list[list[dict[str, Any]]] = []
        self.watches: list[tuple[list[dict[str, Any]], Exception | None]] = []
        self.asked: list[str] = []  # where each watch began
        self.silent = threading.Event()  # all has been played

    def path(self, kind: str) -> str:
        return f"/{kind}"

    def pages(self, path: str, **query: Any) -> Iterator[dict[str, Any]]:
        yield {"metadata": {"resourceVersion": "1"}, "items": self.lists.pop(0)}

    @contextmanager
    def events(self, path: str, idle: float, **query: Any) -> Iterator[Iterator[dict[str, Any]]]:
        self.asked.append(query["resourceVersion"])
        yield self._play()

    def _play(self) -> Iterator[dict[str, Any]]:
        if not self.watches:
            self.silent.set()
            threading.Event().wait()
        events, end = self.watches.pop(0)
        yield from events
        if end is not None:
            raise end


@pytest.fixture
def server() -> Server:
    return Server()


@pytest.fixture
def pods(server: Server) -> Pods:
    return Pods(cast(Cluster, server))


def test_a_broken_connection_is_resumed_where_it_was(server: Server, pods: Pods) -> None:
    server.lists = [[pod("a", 1)]]
    server.watches = [
        ([event("ADDED", pod("b", 2))], BackendUnreachable("it broke")),
        ([event("ADDED", pod("c", 3))], None),
    ]
    pods.find("a")
    assert server.silent.wait(120)
    assert server.asked == ["1", "2", "3"]
    assert all(pods.find(name) for name in "abc")


def test_after_too_long_an_absence_pods_are_listed_and_those_that_went_meanwhile_are_gone(
    server: Server, pods: Pods
) -> None:
    server.lists = [[pod("a", 1), pod("b", 1)], [pod("b", 7)]]
    server.watches = [([], Expired("too old"))]
    pods.find("a")
    assert server.silent.wait(120)
    assert pods.find("a") is None
    gone, there = pods.agent("a"), pods.agent("b")
    assert gone is not None and gone.gone
    assert there is not None and not there.gone


def test_the_end_of_a_deleted_pod_is_remembered_until_its_job_is_forgotten(server: Server, pods: Pods) -> None:
    server.lists = [[pod("a", 1)]]
    server.watches = [([event("MODIFIED", pod("a", 2, "Failed")), event("DELETED", pod("a", 3, "Failed"))], None)]
    pods.find("a")
    assert server.silent.wait(120)
    last = pods.agent("a")
    assert last is not None and (last.gone, last.phase) == (True, "Failed")
    pods.forget("a")
    assert pods.agent("a") is None


def test_of_two_pods_of_one_name_the_later_counts(server: Server, pods: Pods) -> None:
    second = pod("a", 3)
    second["metadata"]["uid"] = "another"
    server.lists = [[pod("a", 1)]]
    server.watches = [([event("ADDED", second), event("DELETED", pod("a", 4))], None)]
    pods.find("a")
    assert server.silent.wait(120)
    found, agent = pods.find("a"), pods.agent("a")
    assert found is not None and found.uid == "another"
    assert agent is not None and not agent.gone


def test_a_server_that_does_not_come_back_is_reported_as_such(
    server: Server, pods: Pods, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "PATIENCE", 0.2)
    with pytest.raises(BackendUnreachable):  # each list fails, as there is none
        pods.find("a")
