"""Backend `docker`: the sandbox of the design as a container, on an engine (Docker or Podman) on this machine.

Engine and controller share a machine, because public data are mounted from it. See container.py for what a container
looks like and where its files live, network.py for what it can reach, watching.py for how ends are distinguished.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar
from urllib.parse import urlsplit

from mle_backend_docker import built, describing, fetching, images, logs, preflight, removing, stopping, watching
from mle_backend_docker.backstop import Backstop
from mle_backend_docker.data import stage_data
from mle_backend_docker.engine import Engine
from mle_backend_docker.gpus import Gpus
from mle_backend_docker.pushing import push
from mle_backend_docker.settings import OPTIONS, Settings
from mle_backend_docker.starting import Starter
from mlecore.agents import Recipe
from mlecore.backends import (
    Backend,
    CachedImage,
    Capacity,
    Dataset,
    Fetched,
    Handle,
    Image,
    Job,
    JobStatus,
    Problem,
    Progress,
    Resources,
    Sandbox,
)
from mlecore.options import Option


class DockerBackend(Backend):
    """Thread-safe: each thread has its own connection."""

    summary: ClassVar[str] = "containers of a Docker or Podman engine on this machine"
    options: ClassVar[tuple[Option, ...]] = OPTIONS

    def __init__(self, options: Mapping[str, str], engine: Engine | None = None) -> None:
        self.settings = Settings.of(options)
        self.engine = engine or Engine()
        self.gpus = Gpus(self.engine, self.settings.gpus)
        self._backstop = Backstop(self.engine)
        self._starter = Starter(self.engine, self.settings, self.gpus)

    def preflight(self, requested: Sequence[Resources] = ()) -> list[Problem]:
        return preflight.problems(self.engine, self.settings, self.gpus, requested)

    def stage_data(self, dataset: Dataset, progress: Progress) -> str:
        return stage_data(dataset, progress)

    def build(self, recipe: Recipe, log: Path) -> Image:
        return images.build(self.engine, self.settings, recipe, log)

    def cached_images(self) -> Sequence[CachedImage]:
        return built.listing(self.engine)

    def prune(self, chosen: Sequence[CachedImage]) -> tuple[list[CachedImage], int]:
        return built.prune(self.engine, chosen)

    def push(self, image: CachedImage, registry: str) -> str:
        return push(self.engine, built.tag_of(self.engine, image), registry, io.StringIO())

    def start(self, job: Job) -> Handle:
        return self._starter.start(job)

    def list_jobs(self, group: str) -> dict[str, Handle]:
        return watching.list_jobs(self.engine, group)

    def status(self, handles: Sequence[Handle]) -> dict[Handle, JobStatus]:
        return watching.status(self.engine, handles, self._backstop)

    def logs(self, handle: Handle, offset: int = 0, follow: bool = False) -> Iterator[bytes]:
        return logs.logs(self.engine, handle, offset, follow)

    def fetch(self, handle: Handle, globs: Sequence[str], into: Path, max_bytes: int, max_files: int) -> Fetched:
        return fetching.fetch(self.engine, handle, globs, into, max_bytes, max_files)

    def stop(self, handle: Handle, grace: float) -> None:
        stopping.stop(self.engine, handle, grace)

    def remove(self, handle: Handle) -> None:
        removing.remove_job(self.engine, handle.name)

    def capacity(self) -> Capacity | None:
        info = self.engine.info
        return Capacity(cpus=float(info["NCPU"]), memory=int(info["MemTotal"]), gpus=self.gpus.pool)

    def describe(self) -> Sandbox:
        return describing.describe(self.engine, self.settings)

    def reaches_as_here(self, endpoint: str) -> bool:
        """The engine is on this machine; only its own name for this machine is unknown outside of containers."""
        return urlsplit(endpoint).hostname != "host.docker.internal"
