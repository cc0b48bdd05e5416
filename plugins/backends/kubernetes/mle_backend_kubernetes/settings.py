"""The backend's options, as values."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeVar, cast

from attrs import field, frozen

from mlecore.errors import UsageError
from mlecore.options import Option, pairs
from mlecore.units import duration, size

Output = Literal["claim", "pod"]
T = TypeVar("T")

BASE = "python:3.11-slim-bookworm"

OPTIONS = (
    Option(name="context", help="context of the kubeconfig; default: its current one"),
    Option(name="namespace", help="namespace of all objects; default: the context's"),
    Option(name="registry", help="where images built here are pushed to and pulled from: localhost:5000, HOST/PROJECT"),
    Option(name="image", help="a finished image for all agents; nothing is built"),
    Option(name="base", help="base image of what is built for agents", default=BASE),
    Option(name="helper", help="image with Python for the pods beside an agent; default: built from the base image"),
    Option(name="ca_bundle", help="file of certificates (PEM) that images built here trust besides their own"),
    Option(name="image-pull-secrets", help="names of pull secrets in the namespace, with commas"),
    Option(name="queue", help="Kueue's LocalQueue, which admits runs by quota"),
    Option(name="gpu-resource", help="what a GPU is called in this cluster", default="nvidia.com/gpu"),
    Option(name="node-selector", help="labels of nodes for runs: name=value,name=value"),
    Option(name="tolerations", help="taints that runs tolerate: key, key=value or key=value:Effect, with commas"),
    Option(name="affinity", help="affinity of runs, as JSON or a table of the file"),
    Option(name="runtime-class", help="RuntimeClass of runs, such as nvidia, gvisor or kata"),
    Option(name="priority-class", help="PriorityClass of runs"),
    Option(name="service-account", help="service account of runs; its token is not mounted"),
    Option(name="user", help="UID or UID:GID of everything in pods, never root", default="1000"),
    Option(name="shm", help="size of /dev/shm, which counts as memory; default: half of the run's memory"),
    Option(name="ephemeral-storage", help="what a run may write outside of its claim; default: no limit"),
    Option(
        name="output",
        help="where a run writes: a claim, or its pod's own disk",
        default="claim",
        choices=("claim", "pod"),
    ),
    Option(name="keep", help="output=pod: how long a pod waits after its agent's end to be collected", default="48h"),
    Option(name="storage", help="size of a run's claim; default: the run's disk, or 50GiB"),
    Option(name="storage-class", help="storage class of the claims; default: the cluster's"),
    Option(name="data-claim", help="claim, made by you, with competitions as in a data folder; mounted read-only"),
    Option(
        name="data-access",
        help="access mode of claims with public data; ReadWriteOnce keeps all runs on one node",
        default="ReadWriteMany",
        choices=("ReadWriteMany", "ReadWriteOnce"),
    ),
    Option(name="wait", help="how long a run may wait for room before it fails", default="7d"),
    Option(name="labels", help="more labels for all objects: name=value,name=value"),
    Option(name="pod-template", help="changes to the pod of runs, as JSON or a table of the file: {spec: {...}}"),
)


@frozen(kw_only=True)
class Settings:
    """What the options say. Sizes in bytes, times in seconds."""

    context: str | None = None
    namespace: str | None = None
    registry: str | None = None
    image: str | None = None
    base: str = BASE
    helper: str | None = None
    ca_bundle: str | None = None
    image_pull_secrets: tuple[str, ...] = ()
    queue: str | None = None
    gpu_resource: str = "nvidia.com/gpu"
    node_selector: Mapping[str, str] = field(factory=dict)
    tolerations: tuple[Mapping[str, Any], ...] = ()
    affinity: Mapping[str, Any] = field(factory=dict)
    runtime_class: str | None = None
    priority_class: str | None = None
    service_account: str | None = None
    user: tuple[int, int] = (1000, 1000)
    shm: int | None = None
    ephemeral_storage: int | None = None
    output: Output = "claim"
    keep: float = 48 * 3600.0
    storage: int | None = None
    storage_class: str | None = None
    data_claim: str | None = None
    data_access: str = "ReadWriteMany"
    wait: float = 7 * 24 * 3600.0
    labels: Mapping[str, str] = field(factory=dict)
    pod_template: Mapping[str, Any] = field(factory=dict)

    @classmethod
    def of(cls, options: Mapping[str, str]) -> Settings:
        """Raises UsageError for a value that cannot be."""
        given = {option.name: options.get(option.name) or option.default for option in OPTIONS}

        def read(name: str, parse: Callable[[str], T]) -> T | None:
            text = given[name]
            try:
                return None if text is None else parse(text)
            except (UsageError, ValueError) as error:
                raise UsageError(f"backend kubernetes: option {name}={text}: {error}") from None

        return cls(
            context=given["context"],
            namespace=given["namespace"],
            image=given["image"],
            helper=given["helper"],
            ca_bundle=given["ca_bundle"],
            queue=given["queue"],
            runtime_class=given["runtime-class"],
            priority_class=given["priority-class"],
            service_account=given["service-account"],
            storage_class=given["storage-class"],
            data_claim=given["data-claim"],
            registry=read("registry", _registry),
            base=cast(str, given["base"]),
            image_pull_secrets=read("image-pull-secrets", _words) or (),
            gpu_resource=cast(str, given["gpu-resource"]),
            node_selector=read("node-selector", _pairs) or {},
            tolerations=read("tolerations", _tolerations) or (),
            affinity=read("affinity", _table) or {},
            user=read("user", _user) or (1000, 1000),
            shm=read("shm", size),
            ephemeral_storage=read("ephemeral-storage", size),
            output=cast(Output, given["output"]),
            keep=read("keep", duration) or 0.0,
            storage=read("storage", size),
            data_access=cast(str, given["data-access"]),
            wait=read("wait", duration) or 0.0,
            labels=read("labels", _pairs) or {},
            pod_template=read("pod-template", _table) or {},
        )


def _words(text: str) -> tuple[str, ...]:
    return tuple(_list(text)) if text.startswith("[") else tuple(filter(None, map(str.strip, text.split(","))))


def _list(text: str) -> Sequence[Any]:
    found = json.loads(text)
    if not isinstance(found, list):
        raise UsageError("expected a list")
    return found


def _table(text: str) -> Mapping[str, Any]:
    found = json.loads(text)
    if not isinstance(found, dict):
        raise UsageError("expected a table")
    return found


def _pairs(text: str) -> Mapping[str, str]:
    if text.startswith("{"):
        return {name: str(value) for name, value in _table(text).items()}
    return pairs(_words(text), "")


def _tolerations(text: str) -> tuple[Mapping[str, Any], ...]:
    if text.startswith("["):
        return tuple(_list(text))
    return tuple(map(_toleration, _words(text)))


def _toleration(text: str) -> Mapping[str, str]:
    """``key``, ``key=value``, ``key:Effect`` or ``key=value:Effect``, as ``kubectl taint`` writes them."""
    taint, _, effect = text.partition(":")
    key, equals, value = taint.partition("=")
    found = {"key": key, "operator": "Equal", "value": value} if equals else {"key": key, "operator": "Exists"}
    return {**found, **({"effect": effect} if effect else {})}


def _user(text: str) -> tuple[int, int]:
    uid, _, gid = text.partition(":")
    if not uid.isdigit() or not (gid or "0").isdigit() or int(uid) == 0:
        raise UsageError("expected UID or UID:GID, and not root's 0")
    return int(uid), int(gid or uid)


def _registry(text: str) -> str:
    if "://" in text:
        raise UsageError("leave out the scheme: HOST[:PORT] or HOST/PROJECT")
    return text.rstrip("/")
