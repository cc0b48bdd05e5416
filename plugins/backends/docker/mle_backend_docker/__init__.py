"""Backend `docker`: an agent's process in its own container, on an engine on this machine."""

from __future__ import annotations

from collections.abc import Mapping

from mle_backend_docker.backend import DockerBackend
from mlecore.backends import Backend
from mlecore.hookspecs import hookimpl


@hookimpl
def backend(options: Mapping[str, str]) -> Backend:
    return DockerBackend(options)
