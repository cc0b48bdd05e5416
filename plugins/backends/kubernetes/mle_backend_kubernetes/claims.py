"""Claims; waits for them where the cluster binds them at once.

The scheduler puts off a pod that comes before its claim is bound, and in a bad moment it looks at it again only after
five minutes.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

from mle_backend_kubernetes import manifests
from mle_backend_kubernetes.cluster import Cluster, Exists
from mle_backend_kubernetes.seen import Claim
from mle_backend_kubernetes.settings import Settings
from mle_backend_kubernetes.watch import Watch
from mlecore.errors import BackendError

SECONDS = 20.0  # that a claim may take to be bound before its pod is made all the same


class Claims:
    """Makes claims for one backend."""

    def __init__(self, cluster: Cluster, settings: Settings, watch: Watch[Claim]) -> None:
        self._cluster = cluster
        self._settings = settings
        self._watch = watch
        self._immediate: dict[str, bool] = {}  # storage class -> are its claims bound before a pod wants them?
        self._lock = threading.Lock()

    def make(
        self,
        name: str,
        size: int,
        labels: Mapping[str, str],
        access: str = "ReadWriteOnce",
        owners: list[dict[str, Any]] | None = None,
    ) -> dict[str, Any]:
        """The claim, made unless it is there."""
        wanted = manifests.claim_object(name, size, labels, self._settings, access, owners)
        try:
            return self._cluster.create(self._cluster.path("persistentvolumeclaims"), wanted)
        except Exists:
            return self._cluster.get(self._cluster.path("persistentvolumeclaims", name))

    def settle(self, claim: Mapping[str, Any]) -> None:
        """Wait until a claim is bound, where it is bound at once."""
        if _bound(claim) or not self._is_immediate(str(claim["spec"].get("storageClassName") or "")):
            return
        uid = claim["metadata"]["uid"]
        self._watch.until(lambda: (found := self._watch.get(uid)) is not None and found.bound, SECONDS)

    def _is_immediate(self, name: str) -> bool:
        with self._lock:
            if name not in self._immediate:
                try:
                    found = self._cluster.get(f"/apis/storage.k8s.io/v1/storageclasses/{name}")
                    self._immediate[name] = found.get("volumeBindingMode", "Immediate") == "Immediate"
                except BackendError:  # no such class, or no right to read it
                    self._immediate[name] = False
            return self._immediate[name]


def _bound(claim: Mapping[str, Any]) -> bool:
    return (claim.get("status") or {}).get("phase") == "Bound"
