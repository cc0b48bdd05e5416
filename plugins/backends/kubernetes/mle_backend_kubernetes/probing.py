"""Does this cluster enforce NetworkPolicies? Two pods try to reach the API server: one under a policy, one without."""

from __future__ import annotations

import threading
import uuid
from typing import Any

from attrs import frozen

from mle_backend_kubernetes import archive, names, network, pods
from mle_backend_kubernetes.cluster import Cluster
from mle_backend_kubernetes.images import Images
from mle_backend_kubernetes.settings import Settings
from mle_backend_kubernetes.tracked import Pods

SECONDS = 10.0  # that a policy may take to come into force
PATIENCE = 300.0  # until both pods have ended: their image may have to be pulled


@frozen(kw_only=True)
class Verdict:
    """What the pods found."""

    enforced: bool | None  # None: it could not be found out
    words: str


class Probe:
    """Asks once for one backend."""

    def __init__(self, cluster: Cluster, settings: Settings, images: Images, watch: Pods) -> None:
        self._cluster = cluster
        self._settings = settings
        self._images = images
        self._watch = watch
        self._lock = threading.Lock()
        self._verdict: Verdict | None = None

    @property
    def known(self) -> bool | None:
        """Are policies enforced, as far as that has been found out?"""
        return self._verdict.enforced if self._verdict is not None else None

    def verdict(self) -> Verdict:
        """Raises BackendUnreachable, BackendError."""
        with self._lock:
            if self._verdict is None:
                self._verdict = self._try()
            return self._verdict

    def _try(self) -> Verdict:
        name = f"mle-probe-{uuid.uuid4().hex[:12]}"
        labels = {**self._settings.labels, names.ROLE: "probe"}
        marked = {**labels, "mlecore.org/probe": name}
        closed = network.policy(name, labels, {"mlecore.org/probe": name}, [], [])
        path = self._cluster.path
        try:
            self._cluster.create(path("networkpolicies"), closed)
            self._cluster.create(path("pods"), self._pod(f"{name}-open", labels))
            self._cluster.create(path("pods"), self._pod(f"{name}-closed", marked))
            ended = self._watch.until(lambda: all(self._said(name, kind) for kind in ("open", "closed")), PATIENCE)
            said = {kind: self._said(name, kind) for kind in ("open", "closed")} if ended else {}
        finally:
            for kind in ("open", "closed"):
                self._cluster.delete(path("pods", f"{name}-{kind}"), gracePeriodSeconds=1)
            self._cluster.delete(path("networkpolicies", name))
        return _verdict(said)

    def _said(self, name: str, kind: str) -> str:
        pod = self._watch.find(f"{name}-{kind}")
        return pod.said if pod is not None else ""

    def _pod(self, name: str, labels: dict[str, str]) -> dict[str, Any]:
        server = ["$(KUBERNETES_SERVICE_HOST)", "$(KUBERNETES_SERVICE_PORT)"]
        command = pods.inline_command("connect", *server, f"{SECONDS:g}")
        container = pods.helper_container("probe", self._images.helper(), command, [])
        container["env"] = archive.inline()
        return pods.helper_pod(self._settings, name, labels, container, [], PATIENCE)


def _verdict(said: dict[str, str]) -> Verdict:
    if said.get("closed") == "reached":
        return Verdict(
            enforced=False, words="a probe pod under a NetworkPolicy that allows nothing reached the API server"
        )
    if said.get("closed") == "cut off" and said.get("open") == "reached":
        return Verdict(enforced=True, words="NetworkPolicies; a probe pod was cut off by one")
    if said.get("closed") == "cut off":
        return Verdict(enforced=True, words="pods without any policy of ours are cut off, too")
    return Verdict(enforced=None, words="the probe pods did not end, so it is not known whether policies are enforced")
