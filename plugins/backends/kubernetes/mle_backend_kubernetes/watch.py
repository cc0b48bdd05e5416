"""A watch over objects of one kind: a cache that the API server keeps up to date.

A thread runs it, from the first lookup on. A broken connection is resumed; if the server no longer has the changes
since, the objects are listed once. While the server does not answer, lookups raise BackendUnreachable.

The kubernetes package's own Watch decodes each object into its classes, which takes milliseconds for a pod.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, Generic, Protocol, TypeVar

from mle_backend_kubernetes.cluster import Cluster, Expired
from mlecore.errors import BackendError, BackendUnreachable

IDLE = 120.0  # seconds of silence, bookmarks included, after which the connection is made again
SERVED = 1800  # seconds after which the server is to end a watch, so that none hangs for ever
PATIENCE = 5.0  # seconds that a broken connection may take to come back before callers get an error
PAUSE = 5.0  # seconds at most between two attempts,
REFUSED = 60.0  # unless the server answers with a rejection


class Cached(Protocol):
    """What is kept of an object."""

    @property
    def uid(self) -> str: ...
    @property
    def name(self) -> str: ...


T = TypeVar("T", bound=Cached)


class Watch(Generic[T]):
    """The objects below a path that have a label, as ``read`` sees them. Thread-safe."""

    def __init__(
        self, cluster: Cluster, path: Callable[[], str], selector: str, read: Callable[[Mapping[str, Any]], T]
    ) -> None:
        self._cluster = cluster
        self._path = path
        self._selector = selector
        self._read = read
        self._changed = threading.Condition()
        self._objects: dict[str, T] = {}  # by uid
        self._by_name: dict[str, T] = {}
        self._problem: BackendError | None = BackendUnreachable("the cluster has not answered yet")
        self._broken_since = 0.0  # monotonic
        self._thread: threading.Thread | None = None
        self._version = ""  # where the watch continues; empty: start with a list

    def get(self, uid: str) -> T | None:
        """Raises BackendUnreachable, like all that follow."""
        with self._listening():
            return self._objects.get(uid)

    def find(self, name: str) -> T | None:
        with self._listening():
            return self._by_name.get(name)

    def until(self, ready: Callable[[], bool], seconds: float) -> bool:
        """Wait for a change after which ``ready``, which asks this watch alone, holds; False if it takes too long."""
        with self._changed:
            return self._changed.wait_for(ready, seconds)

    def _put(self, found: T) -> None:
        self._objects[found.uid] = found
        self._by_name[found.name] = found

    def _drop(self, found: T) -> None:
        self._objects.pop(found.uid, None)
        if (other := self._by_name.get(found.name)) is not None and other.uid == found.uid:
            del self._by_name[found.name]

    def _listening(self) -> threading.Condition:
        """The lock, once the watch is running. Raises what prevents it."""
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
                self._set_problem(error)
                time.sleep(pause)
                pause = min(PAUSE, pause * 2) if isinstance(error, BackendUnreachable) else REFUSED
            except Exception as error:  # a malformed answer must not end the watch
                self._set_problem(BackendUnreachable(f"the cluster sent a malformed answer: {error!r}"))
                self._version = ""
                time.sleep(PAUSE)

    def _list(self) -> None:
        found: dict[str, T] = {}
        version = ""
        for page in self._cluster.pages(self._path(), labelSelector=self._selector):
            version = page["metadata"]["resourceVersion"]
            found |= {each.uid: each for each in map(self._read, page.get("items") or ())}
        with self._changed:
            for uid in self._objects.keys() - found.keys():
                self._drop(self._objects[uid])
            for each in found.values():
                self._put(each)
            self._changed.notify_all()
        self._version = version

    def _follow(self) -> None:
        """Apply changes until the watch ends."""
        query = {
            "labelSelector": self._selector,
            "resourceVersion": self._version,
            "allowWatchBookmarks": "true",
            "timeoutSeconds": SERVED,
        }
        with self._cluster.events(self._path(), IDLE, **query) as events:
            self._clear_problem()
            for event in events:
                self._apply(event)
                self._version = event["object"]["metadata"]["resourceVersion"]

    def _apply(self, event: dict[str, Any]) -> None:
        if event["type"] == "BOOKMARK":
            return
        found = self._read(event["object"])
        with self._changed:
            if event["type"] == "DELETED":
                self._drop(found)
            else:
                self._put(found)
            self._changed.notify_all()

    def _clear_problem(self) -> None:
        with self._changed:
            self._problem = None
            self._changed.notify_all()

    def _set_problem(self, error: BackendError) -> None:
        with self._changed:
            if self._problem is None:
                self._broken_since = time.monotonic()
            self._problem = error
            self._changed.notify_all()
