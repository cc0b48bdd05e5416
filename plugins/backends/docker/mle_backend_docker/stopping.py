"""Asking a job to end, so that our requests can be distinguished from those of others (see watching.py)."""

from __future__ import annotations

import contextlib
import math

from mle_backend_docker import names
from mle_backend_docker.engine import Engine
from mlecore.backends import Handle

SIGNAL = 2  # SIGINT, which init takes like SIGTERM; the engine and its users send SIGTERM or SIGKILL
MORE = 3.0  # seconds on top of the grace, for init to note down how it ended


def stop(engine: Engine, handle: Handle, grace: float) -> None:
    """End a job, then its relay and its gateway. Idempotent."""
    import docker.errors

    agent = handle.name
    with engine.request(f"stopping {handle.name}"), contextlib.suppress(docker.errors.APIError):
        engine.api.kill(agent, SIGNAL)  # refused if it does not run
    for name in (agent, names.relay(handle.name), names.gateway(handle.name)):
        with engine.request(f"stopping {handle.name}"), contextlib.suppress(docker.errors.NotFound):
            engine.api.stop(name, timeout=math.ceil(grace + MORE))
