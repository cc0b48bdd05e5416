"""The backend's options, as values."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from attrs import field, frozen

from mlecore.errors import UsageError
from mlecore.options import Option, pairs
from mlecore.units import duration, size

Output = Literal["claim", "pod"]

BASE = "python:3.11-slim-bookworm"

OPTIONS = (
    Option(name="context", help="kubeconfig context; default: the current one"),
    Option(name="namespace", help="namespace of all objects; default: the context's"),
    Option(name="registry", help="registry to push built images to, e.g. localhost:5000 or HOST/PROJECT"),
    Option(name="image", help="existing image for all agents; nothing is built"),
    Option(name="base", help="base image of the images built for agents", default=BASE),
    Option(name="helper", help="image with Python for helper pods; default: built from the base image"),
    Option(name="ca_bundle", help="file of additional CA certificates (PEM) that built images trust"),
    Option(name="image-pull-secrets", help="pull secrets in the namespace, comma-separated"),
    Option(name="queue", help="Kueue LocalQueue that admits runs"),
    Option(name="gpu-resource", help="resource name of GPUs in this cluster", default="nvidia.com/gpu"),
    Option(name="node-selector", help="labels of nodes for runs: name=value,name=value"),
    Option(name="tolerations", help="taints that runs tolerate: key, key=value or key=value:Effect, comma-separated"),
    Option(name="affinity", help="affinity of runs, as JSON, or as a table in a configuration file"),
    Option(name="runtime-class", help="RuntimeClass of runs, e.g. nvidia, gvisor or kata"),
    Option(name="priority-class", help="PriorityClass of runs"),
    Option(name="service-account", help="service account of runs; its token is not mounted"),
    Option(name="user", help="UID or UID:GID of all processes; never root", default="1000"),
    Option(name="shm", help="size of /dev/shm, which counts as memory; default: half of the run's memory"),
    Option(name="ephemeral-storage", help="disk limit outside the run's claim, e.g. 10GiB; default: none"),
    Option(
        name="output",
        help="where a run writes: to its own claim, or to its pod's disk",
        default="claim",
        choices=("claim", "pod"),
    ),
    Option(name="keep", help="output=pod: how long an ended run's pod waits to be collected", default="48h"),
    Option(name="storage", help="size of a run's claim; default: the run's disk quota, or 50GiB"),
    Option(name="storage-class", help="storage class of claims; default: the cluster's"),
    Option(name="data-claim", help="existing claim with prepared competitions, laid out as a data folder"),
    Option(
        name="data-access",
        help="access mode of claims with public data; ReadWriteOnce keeps all runs on one node",
        default="ReadWriteMany",
        choices=("ReadWriteMany", "ReadWriteOnce"),
    ),
    Option(name="wait", help="how long a run may wait for resources before it fails", default="7d"),
    Option(name="labels", help="additional labels for all objects: name=value,name=value"),
    Option(name="pod-template", help="changes to the pods of runs, as JSON or a table of the file: {spec: {...}}"),
)


@frozen(kw_only=True)
class Settings:
    """The values of the options. Sizes in bytes, times in seconds."""

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
        """Raises UsageError for an invalid value."""
        values: dict[str, Any] = {}
        for option in OPTIONS:
            text = options.get(option.name) or option.default
            if text is None:
                continue
            try:
                values[option.name.replace("-", "_")] = _PARSERS.get(option.name, str)(text)
            except (UsageError, ValueError) as error:
                raise UsageError(f"backend kubernetes: option {option.name}={text}: {error}") from None
        return cls(**values)


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


_PARSERS: Mapping[str, Callable[[str], Any]] = {
    "registry": _registry,
    "image-pull-secrets": _words,
    "node-selector": _pairs,
    "tolerations": _tolerations,
    "affinity": _table,
    "user": _user,
    "shm": size,
    "ephemeral-storage": size,
    "keep": duration,
    "storage": size,
    "wait": duration,
    "labels": _pairs,
    "pod-template": _table,
}
