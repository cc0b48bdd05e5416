"""Backend `docker`: the sandbox of the design as a container, on an engine (Docker or Podman) on this machine.

Engine and controller share a machine, because public data are mounted from it. See container.py for what a container
looks like and where its files live, network.py for what it can reach, watching.py for how ends are told apart.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from mle_backend_docker import fetching, images, logs, names, preflight, removing, watching
from mle_backend_docker.backstop import Backstop
from mle_backend_docker.data import provide
from mle_backend_docker.disk import limits_disk
from mle_backend_docker.engine import Engine
from mle_backend_docker.gpus import Gpus
from mle_backend_docker.settings import OPTIONS, Settings
from mle_backend_docker.starting import Starter
from mlecore.agents import Recipe
from mlecore.backends import Backend, Capacity, Dataset, Fetched, Handle, Image, Job, JobStatus, Problem, Progress
from mlecore.options import Option

STOP_MORE = 3.0  # seconds on top of the grace, for init to note down how it ended


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

    def preflight(self, jobs: Sequence[Job] = ()) -> list[Problem]:
        return preflight.problems(self.engine, self.settings, self.gpus, jobs)

    def provide(self, dataset: Dataset, progress: Progress) -> str:
        return provide(dataset, progress)

    def build(self, recipe: Recipe, log: Path) -> Image:
        return images.build(self.engine, self.settings, recipe, log)

    def start(self, job: Job) -> Handle:
        return self._starter.start(job)

    def find(self, group: str) -> dict[str, Handle]:
        return watching.find(self.engine, group)

    def status(self, handles: Sequence[Handle]) -> dict[Handle, JobStatus]:
        return watching.status(self.engine, handles, self._backstop)

    def logs(self, handle: Handle, offset: int = 0, follow: bool = False) -> Iterator[bytes]:
        return logs.logs(self.engine, handle, offset, follow)

    def fetch(self, handle: Handle, globs: Sequence[str], into: Path, limit: int) -> Fetched:
        return fetching.fetch(self.engine, handle, globs, into, limit)

    def stop(self, handle: Handle, grace: float) -> None:
        import docker.errors

        for name in (names.container(handle) or handle.name, names.relay(handle.name)):
            with self.engine.asking(f"stopping {handle.name}"):
                try:
                    self.engine.api.stop(name, timeout=math.ceil(grace + STOP_MORE))
                except docker.errors.NotFound:
                    continue

    def remove(self, handle: Handle) -> None:
        removing.remove_job(self.engine, handle.name)

    def capacity(self) -> Capacity | None:
        info = self.engine.info
        return Capacity(cpus=float(info["NCPU"]), memory=int(info["MemTotal"]), gpus=self.gpus.pool)

    def describe(self) -> Mapping[str, object]:
        """How the sandbox is enforced here."""
        info, version = self.engine.info, self.engine.version
        return {
            "isolation": "container",
            "engine": "podman" if self.engine.is_podman else "docker",
            "engine_version": version.get("Version"),
            "runtime": self.settings.runtime or info.get("DefaultRuntime"),
            "storage": info.get("Driver"),
            "cgroup": info.get("CgroupVersion"),
            "security": [str(option) for option in info.get("SecurityOptions") or ()],
            "rootless": self.engine.security("rootless"),
            "user_namespaces": self.engine.security("userns") or self.engine.security("rootless"),
            "disk_limited": limits_disk(self.engine),
            "swap_limited": bool(info.get("SwapLimit")),
            "network_enforced": True,
            "network_verified": False,  # the engine's word is taken for it; only our tests try it from inside
        }
