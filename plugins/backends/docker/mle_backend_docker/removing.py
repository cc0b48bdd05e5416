"""Removing all that a job has at the engine."""

from __future__ import annotations

import contextlib
import time
from typing import Any

from mle_backend_docker import gateway
from mlecore.errors import BackendError
from mlecore_sandboxes.containers import names
from mlecore_sandboxes.containers.engine import Engine

REMOVAL_TIMEOUT = 60.0  # seconds


def remove(engine: Engine, job_name: str) -> None:
    """Remove all that carries the job's label; idempotent. Raises BackendError for what cannot be removed."""
    deadline = time.monotonic() + REMOVAL_TIMEOUT
    while left := _sweep(engine, job_name):
        if time.monotonic() > deadline:
            raise BackendError(
                f"{job_name} cannot be removed: {left}",
                fix=f"docker ps -a --filter label={names.JOB}={job_name}",
            )
        time.sleep(0.2)


def _sweep(engine: Engine, job_name: str) -> str:
    """Try once to remove everything; returns why something is left, or nothing."""
    import docker.errors

    label, api = {"label": f"{names.JOB}={job_name}"}, engine.api
    problems = []

    def attempt(remove: Any, *args: Any, **options: Any) -> None:
        try:
            remove(*args, **options)
        except docker.errors.NotFound:
            pass
        except docker.errors.APIError as error:  # being removed already, or a mount that is still busy
            problems.append(str(error.explanation or error))

    with engine.request(f"removing {job_name}"):
        containers = api.containers(all=True, filters=label)
        roles = [(each.get("Labels") or {}).get(names.ROLE) for each in containers]
        for _, each in sorted(zip(roles, containers, strict=True), key=lambda pair: pair[0] != "agent"):
            attempt(api.remove_container, each["Id"], v=True, force=True)
        if "gateway" in roles:
            with contextlib.suppress(docker.errors.APIError):  # there is none, or another gateway has it
                api.remove_volume(gateway.CALLS)
        for volume in api.volumes(filters=label)["Volumes"] or ():
            attempt(api.remove_volume, volume["Name"])
        for each in api.networks(filters=label):
            attempt(api.remove_network, each["Id"])
    return problems[-1] if problems else ""
