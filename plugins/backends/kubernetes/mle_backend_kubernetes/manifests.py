"""The manifests of a run's objects: Job, pods, claims, ConfigMaps and Secrets. Pure.

A run's files are on one volume, its claim or (``output=pod``) its pod's own disk: the folder ``home`` is mounted at
/home, ``run``, with the agent's output, at /run/mlecore. The kubelet keeps only the last megabytes of a container's
output, and drops them with the pod; a file on the claim is complete, and outlives the pod. The init container ``stage``
fills the volume from a ConfigMap before the agent starts. The tools are in a volume that the agent cannot write.
"""

from __future__ import annotations

import base64
import shlex
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from mle_backend_kubernetes import names
from mle_backend_kubernetes.program.messages import CLAIM, DATA, FILES, TOOLS
from mle_backend_kubernetes.settings import Settings
from mlecore.model import backends
from mlecore.model.backends import Job, Resources

STAGING = 3600.0  # seconds that pulling images and filling a run's volume may take
STORAGE = 50 * 2**30  # default size of a run's claim, in bytes
FILES_MOUNT = {"name": "files", "mountPath": FILES, "readOnly": True}
STDIN = "stdin"  # among the tools
HELPER = f"{FILES}/helper.pyz"
USER_HOME = PurePosixPath("/home/agent")
OUTPUT = "/run/mlecore/output.log"  # as the agent's container sees it
_INLINE = (
    "import base64, os, sys; file = os.memfd_create('helper', 0); "
    "os.write(file, base64.b64decode(os.environ['HELPER'])); "
    "os.execv(sys.executable, ['python3', '-I', '/proc/self/fd/%d' % file, *sys.argv[1:]])"
)
_HELPER_REQUESTS = {"cpu": "10m", "memory": "32Mi"}
_HELPER_LIMITS = {"cpu": "2", "memory": "1Gi"}


def helper_command(*words: str) -> list[str]:
    return ["python3", "-I", HELPER, *words]


def inline_command(*words: str) -> list[str]:
    """The same for pods that belong to no job, and so have no ConfigMap: the program is in a variable."""
    return ["python3", "-I", "-c", _INLINE, *words]


def security(settings: Settings) -> dict[str, Any]:
    """A pod's security context, as the standard "restricted" asks for."""
    uid, gid = settings.user
    return {
        "runAsNonRoot": True,
        "runAsUser": uid,
        "runAsGroup": gid,
        "fsGroup": gid,
        "fsGroupChangePolicy": "OnRootMismatch",
        "seccompProfile": {"type": "RuntimeDefault"},
    }


def rights(*, read_only: bool = True) -> dict[str, Any]:
    """A container's security context: no rights."""
    return {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "readOnlyRootFilesystem": read_only,
    }


def spec(settings: Settings, containers: list[dict[str, Any]], volumes: list[dict[str, Any]]) -> dict[str, Any]:
    """What all pods have in common."""
    return {
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "securityContext": security(settings),
        "containers": containers,
        "volumes": volumes,
        **settings.for_all_pods,
    }


def helper_container(name: str, image: str, command: Sequence[str], mounts: list[dict[str, Any]]) -> dict[str, Any]:
    """A container that runs ``program``; it needs Python and little else."""
    return {
        "name": name,
        "image": image,
        "command": list(command),
        "securityContext": rights(),
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "resources": {"requests": _HELPER_REQUESTS, "limits": _HELPER_LIMITS},
        "volumeMounts": mounts,
    }


def helper_pod(
    settings: Settings,
    name: str,
    labels: Mapping[str, str],
    container: dict[str, Any],
    volumes: list[dict[str, Any]],
    seconds: float,
    owners: list[dict[str, Any]] | None = None,
) -> dict[str, Any]:
    """A pod that ends by itself after ``seconds``. It may run on a cordoned node, as its volumes may be there."""
    found = spec(settings, [container], volumes)
    found["activeDeadlineSeconds"] = int(seconds)
    found["terminationGracePeriodSeconds"] = 1
    cordoned = {"key": "node.kubernetes.io/unschedulable", "operator": "Exists", "effect": "NoSchedule"}
    found["tolerations"] = [*found.get("tolerations", []), cordoned]
    meta: dict[str, Any] = {"name": name, "labels": {**settings.labels, **labels}}
    if owners:
        meta["ownerReferences"] = owners
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": found}


def container_resources(settings: Settings, resources: Resources) -> dict[str, Any]:
    """Requests that equal limits; without GPUs, as ``stage`` gets the same."""
    found: dict[str, str] = {}
    if resources.cpus is not None:
        found["cpu"] = f"{max(1, int(resources.cpus * 1000))}m"
    if resources.memory is not None:
        found["memory"] = str(resources.memory)
    limit = settings.ephemeral_storage
    if settings.output == "pod" and resources.disk is not None:
        limit = resources.disk + (limit or 0)
    if limit is not None:
        found["ephemeral-storage"] = str(limit)
    return {"requests": found, "limits": found} if found else {}


def agent_command(job: Job) -> list[str]:
    """The first process: a shell that becomes init, confined where the image has a Python that can do it.

    On a terminal it prints there, else to a file on its volume.
    """
    stdin = f" </opt/mlecore/{STDIN}" if job.stdin else ""
    output = "" if job.resources.terminal else f" >>{shlex.quote(OUTPUT)} 2>&1"
    confine = shlex.join(["python3", "-I", "-S", HELPER, "confine"])
    script = f'if {confine} /bin/sh /dev/null true </dev/null >/dev/null 2>&1; then set -- {confine} "$@"; fi\n'
    script += f'exec "$@"{stdin}{output}'
    start = ["/bin/sh", "-c", script, "start", "/bin/sh", f"{backends.TOOLS}/init", *job.argv]
    return list(map(literal, start))


def literal(text: str) -> str:
    """Text in which the cluster finds no reference to a variable: it replaces ``$(NAME)``, and ``$$`` by ``$``."""
    return text.replace("$", "$$")


def agent_template(
    job: Job,
    settings: Settings,
    *,
    image: str,
    helper: str,
    read_only: bool,
    data: Mapping[str, Any],
    variables: Mapping[str, str],
    hosts: list[dict[str, Any]],
    staging: Mapping[str, str],
) -> dict[str, Any]:
    """The pod template of a run. ``data`` is the mount of the public data, ``staging`` are stage's variables."""
    resources = job.resources
    limits = container_resources(settings, resources)
    env: list[dict[str, Any]] = [{"name": name, "value": literal(value)} for name, value in variables.items()]
    env += [
        {"name": name, "valueFrom": {"secretKeyRef": {"name": job.name, "key": name}}} for name in resources.secrets
    ]
    agent: dict[str, Any] = {
        "name": names.AGENT,
        "image": image,
        "command": agent_command(job),
        "workingDir": "/home",
        "env": env,
        "securityContext": rights(read_only=read_only),
        "resources": _with_gpus(limits, settings, resources),
        "volumeMounts": [
            {"name": "claim", "mountPath": "/home", "subPath": "home"},
            {"name": "claim", "mountPath": "/run/mlecore", "subPath": "run"},
            {"name": "tools", "mountPath": str(backends.TOOLS), "readOnly": True},
            {"name": "tmp", "mountPath": "/tmp"},
            {"name": "shm", "mountPath": "/dev/shm"},
            {**data, "mountPath": "/home/data", "readOnly": True},
            {"name": "files", "mountPath": HELPER, "subPath": PurePosixPath(HELPER).name, "readOnly": True},
        ],
    }
    if resources.terminal:
        agent |= {"tty": True, "stdin": True}
    claim = {"name": "claim", "mountPath": CLAIM}
    stage = helper_container(
        names.STAGE,
        helper,
        helper_command("stage"),
        [
            claim,
            {"name": "tools", "mountPath": TOOLS},
            FILES_MOUNT,
            {**data, "mountPath": DATA, "readOnly": True},
        ],
    )
    stage["resources"] = limits
    stage["env"] = [{"name": name, "value": literal(value)} for name, value in staging.items()]
    containers = [agent]
    if settings.output == "pod":
        containers.append(helper_container(names.KEEPER, helper, _keeper(job, settings), [claim, FILES_MOUNT]))
    found = spec(settings, containers, _volumes(job, settings))
    found |= {
        "initContainers": [stage],
        "terminationGracePeriodSeconds": int(resources.grace) + 10,  # init needs a moment to note how it ended
        "hostAliases": hosts,
    }
    if resources.network in ("none", "llm"):  # names are not asked outside
        found |= {"dnsPolicy": "None", "dnsConfig": {"nameservers": ["127.0.0.1"]}}
        found["dnsConfig"]["options"] = [{"name": "timeout", "value": "1"}, {"name": "attempts", "value": "1"}]
    labels = {**names.labels(job, names.AGENT, settings.labels), names.NETWORK: resources.network}
    template: dict[str, Any] = {"metadata": {"labels": labels}, "spec": found}
    template = merged(template, settings.pod_template)
    template["metadata"]["labels"] |= labels
    return template


def _keeper(job: Job, settings: Settings) -> list[str]:
    longest = job.resources.time_limit + job.resources.grace + settings.keep
    return helper_command("wait", f"{longest:.0f}")


def _with_gpus(limits: Mapping[str, Any], settings: Settings, resources: Resources) -> dict[str, Any]:
    if not resources.gpus:
        return dict(limits)
    gpus = {settings.gpu_resource: str(resources.gpus)}
    return {kind: {**limits.get(kind, {}), **gpus} for kind in ("requests", "limits")}


def _volumes(job: Job, settings: Settings) -> list[dict[str, Any]]:
    resources = job.resources
    shm = settings.shm or (resources.memory // 2 if resources.memory else None)
    claim: dict[str, Any] = {"persistentVolumeClaim": {"claimName": job.name}}
    if settings.output == "pod":
        claim = {"emptyDir": {"sizeLimit": str(resources.disk)} if resources.disk is not None else {}}
    return [
        {"name": "claim", **claim},
        {"name": "tools", "emptyDir": {}},
        {"name": "tmp", "emptyDir": {}},
        {"name": "shm", "emptyDir": {"medium": "Memory", **({"sizeLimit": str(shm)} if shm else {})}},
        {"name": "files", "configMap": {"name": job.name, "defaultMode": 0o444}},
        {"name": "data", "persistentVolumeClaim": {"claimName": job.data.partition("/")[0], "readOnly": True}},
    ]


def job_object(job: Job, settings: Settings, template: Mapping[str, Any]) -> dict[str, Any]:
    """The Job, suspended until all that it needs has been created, and its queue, if any, admits it.

    It runs once. The failure policy records in the Job how its pod ended, which outlives the pod. The deadline is a
    backstop, as it deletes the pod; ``init`` keeps the time limit.
    """
    keep = settings.keep if settings.output == "pod" else 0.0
    labels = names.labels(job, names.AGENT, settings.labels)
    if settings.queue:
        labels[names.QUEUE] = settings.queue
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": job.name,
            "labels": labels,
            "annotations": {f"mlecore.org/of-{name}": value for name, value in job.labels.items()},
        },
        "spec": {
            "suspend": True,
            "backoffLimit": 0,
            "completions": 1,
            "parallelism": 1,
            "activeDeadlineSeconds": int(
                job.resources.time_limit + job.resources.grace + STAGING + settings.wait + keep
            ),
            "podFailurePolicy": {
                "rules": [
                    {"action": "FailJob", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]},
                    {
                        "action": "FailJob",
                        "onExitCodes": {"containerName": names.AGENT, "operator": "NotIn", "values": [0]},
                    },
                ]
            },
            "template": template,
        },
    }


def claim_object(
    name: str,
    size: int,
    labels: Mapping[str, str],
    settings: Settings,
    access: str,
    owners: list[dict[str, Any]] | None = None,
) -> dict[str, Any]:
    """A claim for ``size`` bytes."""
    spec: dict[str, Any] = {"accessModes": [access], "resources": {"requests": {"storage": str(size)}}}
    if settings.storage_class:
        spec["storageClassName"] = settings.storage_class
    meta: dict[str, Any] = {"name": name, "labels": {**settings.labels, **labels}}
    if owners:
        meta["ownerReferences"] = owners
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": meta, "spec": spec}


def config_map(
    name: str, content: Mapping[str, bytes], labels: Mapping[str, str], owners: list[dict[str, Any]]
) -> dict[str, Any]:
    """Small files."""
    metadata = {"name": name, "labels": dict(labels), "ownerReferences": owners}
    encoded = {key: base64.b64encode(value).decode() for key, value in content.items()}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "immutable": True, "binaryData": encoded}


def secret_object(
    name: str, content: Mapping[str, bytes], labels: Mapping[str, str], owners: list[dict[str, Any]]
) -> dict[str, Any]:
    """Values for the pods that mount it only."""
    found = config_map(name, content, labels, owners)
    encoded = found.pop("binaryData")
    return {**found, "kind": "Secret", "data": encoded}


def merged(base: Any, change: Any) -> Any:
    """``base`` with a change like those of `kubectl patch`: tables are merged, null removes a key.

    Lists of named things (containers, volumes) are merged by name; any other list replaces the one in ``base``.
    """
    if isinstance(base, Mapping) and isinstance(change, Mapping):
        out = dict(base)
        for key, value in change.items():
            if value is None:
                out.pop(key, None)
            else:
                out[key] = merged(out[key], value) if key in out else value
        return out
    if _named(base) and _named(change):
        changes = {each["name"]: each for each in change}
        kept = [merged(each, changes.pop(each["name"], {})) for each in base]
        return [*kept, *changes.values()]
    return change


def _named(items: Any) -> bool:
    return isinstance(items, list) and all(isinstance(each, Mapping) and "name" in each for each in items)
