"""The names of a job's objects in the cluster, and the labels to find them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any

from mlecore.errors import BackendError
from mlecore.model.backends import Dataset, Handle, Job
from mlecore_sandboxes.containers import id_of

JOB = "mlecore.org/job"
GROUP = "mlecore.org/group"
ROLE = "mlecore.org/role"  # agent, files, loader, gateway, probe, data
NETWORK = "mlecore.org/network"  # of an agent's pod: none, llm, open
READY = "mlecore.org/ready"  # annotation of a Job: everything it needs has been created
STOPPED = "mlecore.org/stopped"  # annotation of a Job: when Backend.stop() was called
LOADED = "mlecore.org/loaded"  # annotation of a claim: the digest of the complete data in it
QUEUE = "kueue.x-k8s.io/queue-name"

AGENT = "agent"  # the container of the agent
STAGE = "stage"  # the one that fills its volume before it starts
KEEPER = "keeper"  # with output=pod, the container that keeps the pod and reads its files

_NAME = re.compile(r"[a-z]([-a-z0-9]{0,48}[a-z0-9])?")
_VALUE = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")


def check(job: Job) -> None:
    """Raises BackendError if the name of the job or of its group is not valid in a cluster."""
    if not _NAME.fullmatch(job.name):
        raise BackendError(f"{job.name!r} cannot be the name of a Kubernetes Job")
    if not _VALUE.fullmatch(job.group):
        raise BackendError(f"{job.group!r} cannot be the value of a label")


def labels(job: Job, role: str, more: Mapping[str, str] | None = None) -> dict[str, str]:
    """Labels of one object of a job; ``more``, the user's own, cannot override the others."""
    return {**(more or {}), JOB: job.name, GROUP: job.group, ROLE: role}


def files(job_name: str) -> str:
    """The pod that reads the files of a job's claim."""
    return f"{job_name}-files"


def gateway(job_name: str) -> str:
    """The pod, service, secret and policy of a job's relay and gateway."""
    return f"{job_name}-gateway"


def data(dataset: Dataset) -> str:
    """The claim of a competition's public data; its name depends on the digest."""
    slug = re.sub(r"[^a-z0-9]+", "-", dataset.competition.lower()).strip("-")[:30].strip("-")
    identity = f"{dataset.competition}\0{dataset.edition}\0{dataset.digest}"
    return f"mle-data-{slug}-{hashlib.sha256(identity.encode()).hexdigest()[:12]}"


def owned(handle: Handle) -> list[dict[str, Any]]:
    """The ``ownerReferences`` of objects that are deleted with this job."""
    return [
        {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "name": handle.name,
            "uid": id_of(handle),
            "blockOwnerDeletion": True,
        }
    ]
