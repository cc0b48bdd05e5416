"""One watch over all pods of ours in the namespace: whatever happens to a run is known without asking.

A thread keeps it, from the first question on. When the connection breaks it is taken up where it was; where the server
has forgotten that moment, the pods are listed once. While the server does not answer, neither does this.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from typing import Any

from attrs import evolve

from mle_backend_kubernetes import names
from mle_backend_kubernetes.cluster import Cluster, Expired
from mle_backend_kubernetes.seen import Pod, pod_of
from mlecore.errors import BackendError, BackendUnreachable

IDLE = 120.0  # seconds without a word, bookmarks included, after which the connection is made anew
SERVED = 1800  # seconds after which the server is to end a watch, so that none hangs for ever
PATIENCE = 5.0  # seconds that a broken connection may take to come back before that is said
DELETED = 2000  # pods that are gone and still remembered


class Watch:
    """The pods of ours. Thread-safe."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._changed = threading.Condition()
        self._pods: dict[str, Pod] = {}  # by uid
        self._deleted: dict[str, Pod] = {}
        self._problem: BackendError | None = BackendUnreachable("the cluster has not answered yet")
        self._broken_since = 0.0  # monotonic
        self._thread: threading.Thread | None = None
        self._version = ""  # where the watch goes on; empty: with a list

    def agents(self) -> dict[str, Pod]:
        """Pods of agents by the uid of their Job, also those that are gone. Raises BackendUnreachable."""
        return {pod.owner: pod for pod in self._of(names.AGENT)}

    def of_job(self, job: str) -> list[Pod]:
        """All pods of a job that are there."""
        with self._listening():
            return [pod for pod in self._pods.values() if pod.job == job]

    def find(self, name: str) -> Pod | None:
        """A pod that is there."""
        with self._listening():
            return next((pod for pod in self._pods.values() if pod.name == name), None)

    def until(self, ready: Callable[[], bool], seconds: float) -> bool:
        """Wait for a change after which ``ready`` holds; False where it takes too long."""
        deadline = time.monotonic() + seconds
        while not ready():
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            with self._changed:
                self._changed.wait(min(left, 1.0))
        return True

    def forget(self, uid: str) -> None:
        """Nobody asks about this Job any more."""
        with self._changed:
            for key in [key for key, pod in self._deleted.items() if pod.owner == uid]:
                del self._deleted[key]

    def _of(self, role: str) -> Iterable[Pod]:
        with self._listening():
            return [pod for pod in (*self._deleted.values(), *self._pods.values()) if pod.role == role]

    def _listening(self) -> threading.Condition:
        """Its lock, once the watch is there. Raises what keeps it from being there."""
        with self._changed:
            if self._thread is None:
                self._broken_since = time.monotonic()
                self._thread = threading.Thread(target=self._run, name="kubernetes-watch", daemon=True)
                self._thread.start()
            deadline = max(self._broken_since, time.monotonic() - PATIENCE) + PATIENCE
            while self._problem is not None and (left := deadline - time.monotonic()) > 0:
                self._changed.wait(left)
            if self._problem is not None:
                raise self._problem
        return self._changed

    def _run(self) -> None:
        pause = 0.1
        while True:
            try:
                if not self._version:
                    self._list()
                self._follow()
                pause = 0.1
            except Expired:
                self._version = ""
            except BackendError as error:
                self._fails(error)
                time.sleep(pause)
                pause = min(5.0, pause * 2)
            except Exception as error:  # an answer that cannot be: not the end of the watch
                self._fails(BackendUnreachable(f"the cluster's answer cannot be understood: {error!r}"))
                self._version = ""
                time.sleep(5.0)

    def _list(self) -> None:
        found: dict[str, Pod] = {}
        version = ""
        for page in self._cluster.pages(self._cluster.path("pods"), labelSelector=names.ROLE):
            version = page["metadata"]["resourceVersion"]
            found |= {pod.uid: pod for pod in map(pod_of, page.get("items") or ())}
        with self._changed:
            for uid in self._pods.keys() - found.keys():
                self._remember(self._pods[uid])
            self._pods = found
            self._changed.notify_all()
        self._version = version

    def _follow(self) -> None:
        """Take in changes until the watch ends."""
        query = {
            "labelSelector": names.ROLE,
            "resourceVersion": self._version,
            "allowWatchBookmarks": "true",
            "timeoutSeconds": SERVED,
        }
        with self._cluster.events(self._cluster.path("pods"), IDLE, **query) as events:
            self._answers()
            for event in events:
                self._take(event)
                self._version = event["object"]["metadata"]["resourceVersion"]

    def _take(self, event: dict[str, Any]) -> None:
        if event["type"] == "BOOKMARK":
            return
        pod = pod_of(event["object"])
        with self._changed:
            if event["type"] == "DELETED":
                self._pods.pop(pod.uid, None)
                self._remember(pod)
            else:
                self._pods[pod.uid] = pod
            self._changed.notify_all()

    def _remember(self, pod: Pod) -> None:
        if pod.role == names.AGENT:
            self._deleted[pod.uid] = evolve(pod, gone=True)
            while len(self._deleted) > DELETED:
                del self._deleted[next(iter(self._deleted))]

    def _answers(self) -> None:
        with self._changed:
            self._problem = None
            self._changed.notify_all()

    def _fails(self, error: BackendError) -> None:
        with self._changed:
            if self._problem is None:
                self._broken_since = time.monotonic()
            self._problem = error
            self._changed.notify_all()
