"""The manifests of a run's Job and what belongs to it. Pure."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from mle_backend_kubernetes import names
from mle_backend_kubernetes.settings import Settings
from mlecore.backends import Job

STAGING = 3600.0  # seconds that pulling images and filling a run's volume may take
STORAGE = 50 * 2**30  # bytes of a claim where nobody says how many


def job_object(job: Job, settings: Settings, template: Mapping[str, Any]) -> dict[str, Any]:
    """The Job, suspended: it is let go once all that it needs is there, and by its queue where it has one.

    It runs once. The policy notes in the Job itself how its pod ended, which stays there when the pod does not. The
    deadline is a backstop, as it deletes the pod; ``init`` keeps the time limit.
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
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "labels": dict(labels), "ownerReferences": owners},
        "immutable": True,
        "binaryData": _encoded(content),
    }


def secret_object(
    name: str, content: Mapping[str, bytes], labels: Mapping[str, str], owners: list[dict[str, Any]]
) -> dict[str, Any]:
    """What only the pods that mount it may see."""
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name, "labels": dict(labels), "ownerReferences": owners},
        "immutable": True,
        "data": _encoded(content),
    }


def _encoded(content: Mapping[str, bytes]) -> dict[str, str]:
    return {key: base64.b64encode(value).decode() for key, value in content.items()}
