"""The relay and the gateway of a run: a pod of their own, the only thing that the agent's pod can reach under ``llm``.

A ReplicaSet replaces the pod if it is evicted, and a claim keeps its counts and logs. A service has the address that
the agent knows. The model's key is in a Secret that only the gateway's container mounts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from mle_backend_kubernetes import manifests, names
from mle_backend_kubernetes.cluster import Cluster, Exists
from mle_backend_kubernetes.program.messages import CLAIM, FILES
from mle_backend_kubernetes.settings import Settings
from mlecore.model.backends import GATEWAY_PORT, Job
from mlecore.model.model_access import gateway
from mlecore_sandboxes.containers import RELAY_PORT

if TYPE_CHECKING:
    from mle_backend_kubernetes.images import Images

PORTS = [{"protocol": "TCP", "port": port} for port in (RELAY_PORT, GATEWAY_PORT)]
SPACE = 2 * 2**30  # bytes; transcripts end at one GiB
FOLDER = f"{CLAIM}/gateway"


def address(cluster: Cluster, job: Job) -> str:
    """The service's IP address. The service is created unless it exists; it has no owner until there is a Job."""
    name = names.gateway(job.name)
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "labels": names.labels(job, "service")},
        "spec": {
            "selector": {names.JOB: job.name, names.ROLE: "gateway"},
            "ports": [{**port, "name": f"p{port['port']}"} for port in PORTS],
        },
    }
    try:
        found = cluster.create(cluster.path("services"), service)
    except Exists:
        found = cluster.get(cluster.path("services", name))
    return str(found["spec"]["clusterIP"])


def start(cluster: Cluster, settings: Settings, images: Images, job: Job, owners: list[dict[str, Any]]) -> None:
    """Create it, and make the Job the owner of the service. The agent's pod waits for it before it starts."""
    name = names.gateway(job.name)
    labels = names.labels(job, "gateway", settings.labels)
    cluster.patch(cluster.path("services", name), {"metadata": {"ownerReferences": owners}})
    containers = [_relay(images.helper(), job)]
    volumes: list[dict[str, Any]] = [
        {"name": "claim", "persistentVolumeClaim": {"claimName": name}},
        {"name": "files", "configMap": {"name": job.name, "defaultMode": 0o444}},
        {"name": "tmp", "emptyDir": {}},
    ]
    if job.resources.model is not None:
        process = gateway(
            job.resources.model, job.name, listen=f"0.0.0.0:{GATEWAY_PORT}", folder=FOLDER, python="python3"
        )
        values = {"settings.json": process.settings}
        cluster.ensure(cluster.path("secrets"), manifests.secret_object(name, values, labels, owners))
        containers.append(_gateway(images.gateway(), process.argv))
        volumes.append({"name": "settings", "secret": {"secretName": name, "defaultMode": 0o440}})
    spec = manifests.spec(settings, containers, volumes)
    spec |= {"restartPolicy": "Always", "terminationGracePeriodSeconds": 5}
    spec["initContainers"] = [
        manifests.helper_container(
            "folder", images.helper(), ["python3", "-c", f"import os; os.makedirs({FOLDER!r}, exist_ok=True)"], [_CLAIM]
        )
    ]
    meta = {"name": name, "labels": labels, "ownerReferences": owners}
    selector = {names.JOB: job.name, names.ROLE: "gateway"}
    replicas = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": meta,
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": selector},
            "template": {"metadata": {"labels": labels}, "spec": spec},
        },
    }
    cluster.ensure(f"/apis/apps/v1/namespaces/{cluster.namespace}/replicasets", replicas)


_CLAIM = {"name": "claim", "mountPath": CLAIM}
_TMP = {"name": "tmp", "mountPath": "/tmp"}


def waited_for(job: Job, host: str) -> list[tuple[str, int]]:
    """What must answer before the agent begins."""
    return [(host, RELAY_PORT), *([(host, GATEWAY_PORT)] if job.resources.model else [])]


def _relay(image: str, job: Job) -> dict[str, Any]:
    argv = ["python3", "-I", "-S", f"{FILES}/relay.py", "--listen", f"0.0.0.0:{RELAY_PORT}"]
    argv += ["--log", f"{FOLDER}/relay.jsonl"]
    for pattern in job.resources.allow:
        argv += ["--allow", pattern]
    return manifests.helper_container("relay", image, argv, [_CLAIM, manifests.FILES_MOUNT])


def _gateway(image: str, argv: Sequence[str]) -> dict[str, Any]:
    # Without -I, which would hide its files.
    command = [argv[0], *argv[2:], "--settings", "/settings/settings.json"]
    mounts: list[dict[str, Any]] = [_CLAIM, _TMP, {"name": "settings", "mountPath": "/settings", "readOnly": True}]
    return {**manifests.helper_container("gateway", image, command, mounts), "workingDir": "/opt/gateway"}
