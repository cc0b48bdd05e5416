"""Backend `kubernetes`: each run a Job of a cluster."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from mlecore.hookspecs import hookimpl

if TYPE_CHECKING:
    from mlecore.model.backends import Backend


@hookimpl
def backend(options: Mapping[str, str]) -> Backend:
    from mle_backend_kubernetes.kubernetes_backend import KubernetesBackend  # here, as in the backend docker

    return KubernetesBackend(options)
