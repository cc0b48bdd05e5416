"""Backend `docker`: an agent's process in its own container, on an engine on this machine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from mlecore.hookspecs import hookimpl

if TYPE_CHECKING:
    from mlecore.model.backends import Backend


@hookimpl
def backend(options: Mapping[str, str]) -> Backend:
    # Not above: other threads may import modules of a package while the package itself is still being imported, and
    # Python then hands out modules that are not complete. (No module may be called backend: it would take the place of
    # this function.)
    from mle_backend_docker.docker_backend import DockerBackend

    return DockerBackend(options)
