"""What a run can reach, as NetworkPolicies: nothing, its gateway's pod, or everything but the cluster's own servers.

A policy is created before its pod, and no other pod may open a connection to it. A cluster may ignore policies: a probe
finds out with two pods that try to reach the API server, one under a policy, one without.
"""

from __future__ import annotations

import ipaddress
import threading
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from attrs import field, frozen

from mle_backend_kubernetes import archive, gateway, manifests, names
from mle_backend_kubernetes.cluster import Cluster
from mle_backend_kubernetes.cluster_cache import Pods
from mle_backend_kubernetes.images import Images
from mle_backend_kubernetes.settings import Settings
from mlecore.errors import BackendError, BackendUnreachable
from mlecore.model.backends import GATEWAY_PORT, Job, Problem, Resources
from mlecore_sandboxes.containers import proxy_url

# Where clouds offer credentials to anyone who asks: all of them, and Alibaba; link-local, and AWS, Google and Oracle.
METADATA = ("169.254.0.0/16", "100.100.100.200/32")
METADATA_6 = ("fe80::/10", "fd00:ec2::254/128", "fd20:ce::254/128", "fd00:c1::a9fe:a9fe/128")
SOON = 15.0  # seconds that a policy usually takes to come into force,
LATE = 300.0  # and at most, where the cluster enforces them
ADDRESSES = 600.0  # seconds that the API server's addresses are remembered
PROBE_TIMEOUT = 300.0  # seconds until both probe pods have ended: their image may have to be pulled
PROBE_SECONDS = 10.0  # that the probe's policy may take to come into force


@frozen(kw_only=True)
class Attachment:
    """How an agent reaches its model."""

    proxy: str | None = None
    gateway: str | None = None
    hosts: list[dict[str, Any]] = field(factory=list)
    waited_for: list[tuple[str, int]] = field(factory=list)  # what must answer before the agent begins


def attachment(cluster: Cluster, job: Job) -> Attachment:
    """Under ``llm`` a service stands for the gateway's pod: its address is known before there is a pod."""
    if job.resources.network != "llm":
        return Attachment()
    address = gateway.address(cluster, job)
    return Attachment(
        proxy=proxy_url(address),
        gateway=f"http://gateway:{GATEWAY_PORT}" if job.resources.model else None,
        hosts=[{"ip": address, "hostnames": ["gateway", "relay"]}],
        waited_for=gateway.waited_for(job, address),
    )


def policies(
    cluster: Cluster, job: Job, labels: Mapping[str, str], owners: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """The policies of the agent's pod, and under ``llm`` of its gateway's."""
    agent = {names.JOB: job.name, names.ROLE: names.AGENT}
    if job.resources.network == "none":
        egress: list[dict[str, Any]] = []
    elif job.resources.network == "llm":
        target = {names.JOB: job.name, names.ROLE: "gateway"}
        egress = [{"to": [{"podSelector": {"matchLabels": target}}], "ports": gateway.PORTS}]
    else:
        egress = [*_everything(cluster)]
    found = [policy(job.name, labels, agent, [], egress, owners)]
    if job.resources.network == "llm":
        ingress = [{"from": [{"podSelector": {"matchLabels": agent}}], "ports": gateway.PORTS}]
        selector = {names.JOB: job.name, names.ROLE: "gateway"}
        found.append(policy(names.gateway(job.name), labels, selector, ingress, [{}], owners))
    return found


def awaited(cluster: Cluster, job: Job, enforced: bool | None) -> tuple[float, bool]:
    """Seconds that a pod waits for its policy before the agent begins, and whether it must be in force by then."""
    if enforced is False or (job.resources.network == "open" and not _api_servers(cluster)):
        return 0.0, False
    return (LATE, True) if enforced else (SOON, False)


def problems(cluster: Cluster, requested: Sequence[Resources]) -> Iterator[Problem]:
    """An open network is kept from the API server by its addresses, which not everybody may read."""
    if any(resources.network == "open" for resources in requested) and not _api_servers(cluster):
        yield Problem(
            description="no permission to read the API server's addresses, so runs with an open network can reach it",
            fix="Have the ClusterRole of docs/kubernetes.md bound to you. Pods have no account there in any case.",
            fatal=False,
        )


def policy(
    name: str,
    labels: Mapping[str, str],
    selector: Mapping[str, str],
    ingress: list[dict[str, Any]],
    egress: list[dict[str, Any]],
    owners: list[dict[str, Any]] | None = None,
) -> dict[str, Any]:
    """A NetworkPolicy both ways."""
    meta: dict[str, Any] = {"name": name, "labels": dict(labels)}
    if owners:
        meta["ownerReferences"] = owners
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": meta,
        "spec": {
            "podSelector": {"matchLabels": dict(selector)},
            "policyTypes": ["Ingress", "Egress"],
            "ingress": ingress,
            "egress": egress,
        },
    }


def _everything(cluster: Cluster) -> list[dict[str, Any]]:
    """All addresses but those of the API server, as far as they may be read, and of cloud metadata."""
    servers = _api_servers(cluster)
    blocks = [_all_but("0.0.0.0/0", [*METADATA, *(each for each in servers if ":" not in each)])]
    if not servers or any(":" in each for each in servers):
        blocks.append(_all_but("::/0", [*METADATA_6, *(each for each in servers if ":" in each)]))
    dns = [{"protocol": protocol, "port": 53} for protocol in ("UDP", "TCP")]
    return [{"to": blocks}, {"ports": dns}]


def _all_but(block: str, excluded: list[str]) -> dict[str, Any]:
    return {"ipBlock": {"cidr": block, "except": excluded}}


def _api_servers(cluster: Cluster) -> tuple[str, ...]:
    """Addresses as CIDR blocks; none if they may not be read."""
    return _addresses(cluster, int(time.monotonic() / ADDRESSES))


@lru_cache(8)
def _addresses(cluster: Cluster, period: int) -> tuple[str, ...]:
    try:
        slices = list(
            cluster.items(
                "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices",
                labelSelector="kubernetes.io/service-name=kubernetes",
            )
        )
        service = cluster.get("/api/v1/namespaces/default/services/kubernetes")
    except BackendUnreachable:
        raise
    except BackendError:  # no permission to read them
        return ()
    addresses = {ip for part in slices for each in part.get("endpoints") or () for ip in each["addresses"]}
    addresses |= set(service["spec"].get("clusterIPs") or ())
    return tuple(sorted(str(ipaddress.ip_network(each)) for each in addresses))


@frozen(kw_only=True)
class Verdict:
    """What the probe found."""

    enforced: bool | None  # None: unknown
    description: str


class Probe:
    """Finds out, once for one backend, whether the cluster enforces NetworkPolicies."""

    def __init__(self, cluster: Cluster, settings: Settings, images: Images, pods: Pods) -> None:
        self._cluster = cluster
        self._settings = settings
        self._images = images
        self._pods = pods
        self._lock = threading.Lock()
        self._verdict: Verdict | None = None

    @property
    def known(self) -> bool | None:
        """Are policies enforced? None: unknown, or not probed yet."""
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
        closed = policy(name, labels, {"mlecore.org/probe": name}, [], [])
        path = self._cluster.path
        try:
            self._cluster.create(path("networkpolicies"), closed)
            self._cluster.create(path("pods"), self._pod(f"{name}-open", labels))
            self._cluster.create(path("pods"), self._pod(f"{name}-closed", marked))
            ended = self._pods.until(
                lambda: all(self._result(name, kind) for kind in ("open", "closed")), PROBE_TIMEOUT
            )
            results = {kind: self._result(name, kind) for kind in ("open", "closed")} if ended else {}
        finally:
            for kind in ("open", "closed"):
                self._cluster.delete(path("pods", f"{name}-{kind}"), gracePeriodSeconds=1)
            self._cluster.delete(path("networkpolicies", name))
        return _verdict(results)

    def _result(self, name: str, kind: str) -> str:
        pod = self._pods.find(f"{name}-{kind}")
        return pod.message_at_end if pod is not None else ""

    def _pod(self, name: str, labels: dict[str, str]) -> dict[str, Any]:
        server = ["$(KUBERNETES_SERVICE_HOST)", "$(KUBERNETES_SERVICE_PORT)"]
        command = manifests.inline_command("connect", *server, f"{PROBE_SECONDS:g}")
        container = manifests.helper_container("probe", self._images.helper(), command, [])
        container["env"] = archive.inline()
        return manifests.helper_pod(self._settings, name, labels, container, [], PROBE_TIMEOUT)


def _verdict(results: dict[str, str]) -> Verdict:
    if results.get("closed") == "reached":
        return Verdict(
            enforced=False, description="a probe pod under a NetworkPolicy that allows nothing reached the API server"
        )
    if results.get("closed") == "cut off" and results.get("open") == "reached":
        return Verdict(enforced=True, description="NetworkPolicies; a probe pod was cut off by one")
    if results.get("closed") == "cut off":
        return Verdict(enforced=True, description="pods without a policy are cut off, too")
    return Verdict(
        enforced=None, description="the probe pods did not end, so it is unknown whether policies are enforced"
    )
