"""The names of a job's objects at the engine, and the labels to find them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from mlecore.errors import BackendError
from mlecore.model import backends
from mlecore.model.backends import Job

JOB = "org.mlecore.job"
GROUP = "org.mlecore.group"
ROLE = "org.mlecore.role"  # agent, relay, gateway, fetch, fill, volume, network, image
GPUS = "org.mlecore.gpus"  # ids, with commas
SECONDS = "org.mlecore.seconds"  # seconds, on an agent's container: time limit and grace
RECIPE = "org.mlecore.recipe"  # on images: digest of all that went into it
OWNER = "org.mlecore.owner"  # on images: which user's installation of mlecore built it
INSTALLED = "org.mlecore.installed"  # on images: what is installed in them, as a JSON list

REPOSITORY = "mlecore/agent"  # of the images that are built here

TOOLS = str(backends.TOOLS)
INIT = f"{TOOLS}/init"
USER = "nonroot"  # the agent's, as the images of MLE-bench call it
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


def check(job: Job) -> None:
    """Raises BackendError if the job's name cannot be a container's."""
    if not _NAME.fullmatch(job.name):
        raise BackendError(f"{job.name!r} cannot be the name of a container")


def relay(job_name: str) -> str:
    return f"{job_name}-relay"


def gateway(job_name: str) -> str:
    """Its container, and the volume of what it writes."""
    return f"{job_name}-gateway"


def tools(job_name: str) -> str:
    """The volume of /opt/mlecore."""
    return f"{job_name}-tools"


def labels(job: Job, role: str, more: Mapping[str, str] | None = None) -> dict[str, str]:
    """Labels of one thing of a job; the job's and the user's own come first, so that they cannot hide ours."""
    return {**(more or {}), **job.labels, JOB: job.name, GROUP: job.group, ROLE: role}
