"""Backend `slurm`: agents run as jobs of a Slurm cluster, each in the same sandbox as with the backend `vm`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from mlecore.hookspecs import hookimpl

if TYPE_CHECKING:
    from mlecore.model.backends import Backend


@hookimpl
def backend(options: Mapping[str, str]) -> Backend:
    from mle_backend_slurm.slurm_backend import SlurmBackend

    return SlurmBackend(options)
