"""Backend `kubernetes`: each run a Job of a cluster."""

from __future__ import annotations

from collections.abc import Mapping

from mle_backend_kubernetes.backend import KubernetesBackend
from mlecore.backends import Backend
from mlecore.hookspecs import hookimpl


@hookimpl
def backend(options: Mapping[str, str]) -> Backend:
    return KubernetesBackend(options)
