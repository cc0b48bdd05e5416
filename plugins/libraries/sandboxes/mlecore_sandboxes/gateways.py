"""The gateway that runs beside a job: its command line, and the real key that it needs where it starts."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import mlecore
from mlecore.errors import BackendError
from mlecore.model.backends import Job
from mlecore.model.model_access import Process, gateway
from mlecore_jobs.supervise import relaying
from mlecore_sandboxes import folders


def gateway_of(job: Job, root: Path, python: str | None = None) -> Process | None:
    """None for a job without a model; ``python`` has what a gateway imports. Raises BackendError without its key.

    It runs in the job's folder, whose path may be too long for a socket's name.
    """
    if job.resources.model is None:
        return None
    return gateway(
        job.resources.model,
        job.name,
        listen=f"unix:{relaying.GATEWAY}",
        folder=".",
        slots=str(folders.make_private(root / "calls")),
        python=python or sys.executable,
        package=Path(mlecore.__file__).parent.parent if python else None,
    )


def model_key(job: Job) -> dict[str, str]:
    """The variable with the model's real key, for another machine, where the gateway starts. Raises BackendError."""
    name = job.resources.model.key if job.resources.model else None
    if name is None:
        return {}
    if not os.environ.get(name):
        raise BackendError(f"the variable {name}, which contains the model's key, is not set", fix=f"export {name}=...")
    return {name: os.environ[name]}
