"""Removes everything: containers, volumes and the network of a job, found by label, whatever happened earlier."""

from __future__ import annotations

import contextlib
import time

from mle_backend_docker import gateway, names
from mle_backend_docker.engine import Engine
from mlecore.errors import BackendError

SECONDS = 60.0


def remove_job(engine: Engine, job_name: str) -> None:
    """Remove all that carries the job's label; idempotent. Raises BackendError for what cannot be removed."""
    deadline = time.monotonic() + SECONDS
    while left := _sweep(engine, job_name):
        if time.monotonic() > deadline:
            raise BackendError(
                f"{job_name} cannot be removed: {left}",
                fix=f"docker ps -a --filter label={names.JOB}={job_name}",
            )
        time.sleep(0.2)


def _sweep(engine: Engine, job_name: str) -> str:
    """Try once to remove everything; what is in the way, or nothing."""
    import docker.errors

    label = {"label": f"{names.JOB}={job_name}"}
    left = ""
    with engine.request(f"removing {job_name}"):
        api = engine.api
        containers = api.containers(all=True, filters=label)
        for found in sorted(containers, key=lambda each: (each.get("Labels") or {}).get(names.ROLE) != "agent"):
            try:
                api.remove_container(found["Id"], v=True, force=True)
            except docker.errors.NotFound:
                continue
            except docker.errors.APIError as error:  # being removed already, or a mount that is still busy
                left = str(error.explanation or error)
        if any((each.get("Labels") or {}).get(names.ROLE) == "gateway" for each in containers):
            with contextlib.suppress(docker.errors.APIError):  # there is none, or another gateway has it
                api.remove_volume(gateway.CALLS)
        for volume in api.volumes(filters=label)["Volumes"] or ():
            try:
                api.remove_volume(volume["Name"])
            except docker.errors.NotFound:
                continue
            except docker.errors.APIError as error:
                left = str(error.explanation or error)
        for found in api.networks(filters=label):
            try:
                api.remove_network(found["Id"])
            except docker.errors.NotFound:
                continue
            except docker.errors.APIError as error:
                left = str(error.explanation or error)
    return left
