"""The backend's options, and what they amount to."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from attrs import frozen

from mlecore.errors import UsageError
from mlecore.model.options import setting
from mlecore.util.units import duration, size
from mlecore_sandboxes.containers import read_labels, read_user
from mlecore_sandboxes.containers.settings import BASE, existing_file

_KINDS = {"nodeSelector": dict, "tolerations": list, "imagePullSecrets": list}


def read_registry(text: str) -> str:
    """HOST[:PORT] or HOST/PROJECT. Raises UsageError."""
    if "://" in text:
        raise UsageError("leave out the scheme: HOST[:PORT] or HOST/PROJECT")
    return text.rstrip("/")


def read_pod_template(text: str) -> Mapping[str, Any]:
    """A table with the table ``spec``. Raises UsageError; what else is wrong with it, the cluster says."""
    found: Mapping[str, Any] = json.loads(text or "{}")
    spec = found.get("spec", {}) if isinstance(found, dict) else None
    if not isinstance(spec, dict):
        raise UsageError("expected a table such as {spec: {...}}")
    for name, kind in _KINDS.items():
        if not isinstance(spec.get(name, kind()), kind):
            raise UsageError(f"spec.{name} must be a {'list' if kind is list else 'table'}")
    return found


@frozen(kw_only=True)
class Settings:
    """Each field is an option. Sizes in bytes, times in seconds."""

    context: str | None = setting("kubeconfig context; default: the current one")
    namespace: str | None = setting("namespace of all objects; default: the context's")
    registry: str | None = setting(
        "registry to push built images to, e.g. localhost:5000 or HOST/PROJECT", read_registry
    )
    image: str | None = setting("existing image for all agents; nothing is built")
    base: str = setting("base image of the images built for agents", default=BASE)
    helper: str | None = setting("image with Python for helper pods; default: built from the base image")
    ca_bundle: Path | None = setting("file of additional CA certificates (PEM) that built images trust", existing_file)
    queue: str | None = setting("Kueue LocalQueue that admits runs")
    gpu_resource: str = setting("resource name of GPUs in this cluster", default="nvidia.com/gpu")
    user: tuple[int, int] = setting("UID or UID:GID of all processes; never root", read_user, default="1000")
    shm: int | None = setting("size of /dev/shm, which counts as memory; default: half of the run's memory", size)
    ephemeral_storage: int | None = setting("disk limit outside the run's claim, e.g. 10GiB; default: none", size)
    output: Literal["claim", "pod"] = setting(
        "where a run writes: to its own claim, or to its pod's disk", default="claim", choices=("claim", "pod")
    )
    keep: float = setting("output=pod: how long an ended run's pod waits to be collected", duration, default="48h")
    storage: int | None = setting("size of a run's claim; default: the run's disk quota, or 50GiB", size)
    storage_class: str | None = setting("storage class of claims; default: the cluster's")
    data_claim: str | None = setting("existing claim with prepared competitions, laid out as a data folder")
    data_access: str = setting(
        "access mode of claims with public data; ReadWriteOnce keeps all runs on one node",
        default="ReadWriteMany",
        choices=("ReadWriteMany", "ReadWriteOnce"),
    )
    wait: float = setting("how long a run may wait for resources before it fails", duration, default="7d")
    labels: Mapping[str, str] = setting(
        "additional labels for all objects: name=value,name=value", read_labels, default=""
    )
    pod_template: Mapping[str, Any] = setting(
        "changes to the pods of runs, as JSON or a table of the file: {spec: {...}}; helper pods get its nodeSelector, "
        "tolerations and imagePullSecrets",
        read_pod_template,
        default="",
    )

    @property
    def pod_spec(self) -> Mapping[str, Any]:
        """``spec`` of the pod template."""
        spec: Mapping[str, Any] = self.pod_template.get("spec") or {}
        return spec

    @property
    def for_all_pods(self) -> dict[str, Any]:
        """The part of it that every pod needs: it must go to the same nodes, and pull its image."""
        return {name: self.pod_spec[name] for name in _KINDS if name in self.pod_spec}
