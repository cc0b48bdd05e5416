"""Backend `docker`: the sandbox of the design as a container, on an engine (Docker or Podman) on this machine.

Engine and controller share a machine, because public data are mounted from it. See container.py for what a container
looks like and where its files live, network.py for what it can reach, outcome.py for how ends are distinguished.
"""

from __future__ import annotations

import contextlib
import io
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import urlsplit

from mle_backend_docker import fetching, network, outcome, preflight, system_calls
from mle_backend_docker.gpus import Gpus
from mle_backend_docker.removing import remove
from mle_backend_docker.settings import Settings
from mle_backend_docker.starting import Starter
from mlecore.errors import BackendError, BackendUnreachable
from mlecore.model.agents import Recipe
from mlecore.model.backends import (
    GONE,
    Backend,
    CachedImage,
    Capacity,
    Dataset,
    Enforcement,
    Handle,
    Image,
    Job,
    JobStatus,
    Problem,
    Progress,
    Resources,
    Sandbox,
)
from mlecore.model.options import Option, declared, read_settings
from mlecore_jobs.fetching import Fetched
from mlecore_sandboxes.containers import INIT_MARGIN, handle_of, id_of, images, names, place_of
from mlecore_sandboxes.containers.engine import Engine
from mlecore_sandboxes.data import public_folder


class DockerBackend(Backend):
    """Thread-safe: each thread has its own connection."""

    summary: ClassVar[str] = "containers of a Docker or Podman engine on this machine"
    options: ClassVar[tuple[Option, ...]] = declared(Settings)

    def __init__(self, options: Mapping[str, str], engine: Engine | None = None) -> None:
        self.settings = read_settings(Settings, options, "backend docker")
        self.engine = engine or Engine()
        self.gpus = Gpus(self.engine, self.settings.gpus)
        self._backstop = outcome.Backstop(self.engine)
        self._starter = Starter(self.engine, self.settings, self.gpus)

    def preflight(self, requested: Sequence[Resources] = ()) -> list[Problem]:
        return preflight.problems(self.engine, self.settings, self.gpus, requested)

    def capacity(self) -> Capacity | None:
        info = self.engine.info
        return Capacity(cpus=float(info["NCPU"]), memory=int(info["MemTotal"]), gpus=self.gpus.pool)

    def describe(self) -> Sandbox:
        """According to the engine."""
        engine, info = self.engine, self.engine.info
        rootless = engine.security("rootless")
        if engine.limits_disk:
            disk = Enforcement(level="enforced", how="volumes with a size")
        else:
            disk = Enforcement(level="absent", how="the engine's storage has no quotas")
        return Sandbox(
            isolation="container",
            user="not root; in a user namespace" if rootless or engine.security("userns") else "not root",
            time=Enforcement(level="watched", how="init, and a controller that kills what outlasts it"),
            cpus=_cgroup(info, "CpuCfsQuota"),
            memory=_cgroup(info, "MemoryLimit"),
            processes=_cgroup(info, "PidsLimit"),
            disk=disk,
            network=Enforcement(level="enforced", how="the engine's networks"),
            network_verified=False,  # the engine's word is taken for it; only our tests try it from inside
            details={
                "engine": "podman" if engine.is_podman else "docker",
                "engine_version": str(engine.version.get("Version")),
                "runtime": str(self.settings.runtime or info.get("DefaultRuntime")),
                "storage": str(info.get("Driver")),
                "cgroup_version": str(info.get("CgroupVersion")),
                "system_calls": "filtered" if system_calls.is_ours(engine) else "the engine's profile",
                "security": " ".join(str(option) for option in info.get("SecurityOptions") or ()),
                "rootless": "yes" if rootless else "no",
                "swap": "limited" if info.get("SwapLimit") else "not limited",
            },
        )

    def reaches_as_here(self, endpoint: str) -> bool:
        """The engine is on this machine; only its own name for this machine is unknown outside of containers."""
        return urlsplit(endpoint).hostname != network.HOST_GATEWAY

    def stage_data(self, dataset: Dataset, progress: Progress) -> str:
        """The folder, which the engine mounts. Raises BackendError if the agent could not read it."""
        public = public_folder(dataset, others=True)
        progress(1, 1, f"{dataset.competition}: mounted from {public}")
        return str(public)

    def build(self, recipe: Recipe, log: Path) -> Image:
        return images.build(self.engine, self.settings, recipe, log)

    def cached_images(self) -> Sequence[CachedImage]:
        return images.cached(self.engine)

    def prune(self, chosen: Sequence[CachedImage]) -> tuple[list[CachedImage], int]:
        return images.prune(self.engine, chosen)

    def push(self, image: CachedImage, registry: str) -> str:
        return images.push(self.engine, images.tag_of(self.engine, image), registry, io.StringIO())

    def start(self, job: Job) -> Handle:
        names.check(job)
        return self._starter.start(job)

    def list_jobs(self, group: str) -> dict[str, Handle]:
        """Includes jobs of which there is only a relay, a network or a volume, so that they are removed, too."""
        label = {"label": f"{names.GROUP}={group}"}
        with self.engine.request("looking for jobs"):
            containers = self.engine.api.containers(all=True, filters=label)
            networks = self.engine.api.networks(filters=label)
            volumes = self.engine.api.volumes(filters=label)["Volumes"] or ()
        out: dict[str, Handle] = {}
        for each in [*volumes, *networks, *containers]:
            labels = each.get("Labels") or {}
            if name := labels.get(names.JOB):
                id = each["Id"] if labels.get(names.ROLE) == "agent" else ""
                if id or name not in out:
                    out[name] = handle_of(name, id, self.engine.id)
        return out

    def status(self, handles: Sequence[Handle]) -> dict[Handle, JobStatus]:
        """One listing for all; those that have ended are inspected one by one, and so are those beyond their time."""
        for handle in handles:
            if place_of(handle) not in ("", self.engine.id):
                raise BackendError(
                    f"{handle.name} runs on another Docker engine than the one at {self.engine.host}",
                    fix="Set DOCKER_HOST (or the docker context) to the engine that it was started on.",
                )
        if not handles:
            return {}
        label = f"{names.JOB}={handles[0].name}" if len(handles) == 1 else f"{names.ROLE}=agent"
        with self.engine.request("looking at jobs"):
            listed = self.engine.api.containers(all=True, filters={"label": label})
        agents = {
            labels.get(names.JOB): each
            for each in listed
            if (labels := each.get("Labels") or {}).get(names.ROLE) == "agent"
        }
        out = {handle: self._status(handle, agents.get(handle.name)) for handle in handles}
        for handle, status in out.items():
            if status.phase == "running":
                self._backstop.look(agents[handle.name])
        return out

    def _status(self, handle: Handle, listed: Mapping[str, Any] | None) -> JobStatus:
        if listed is None or id_of(handle) not in ("", listed["Id"]):
            return GONE
        state = str(listed.get("State", "")).lower()
        if state in ("running", "paused", "restarting", "stopping"):
            return JobStatus(phase="running", reason="paused" if state == "paused" else "")
        if state in ("removing", "dead"):
            return GONE
        return outcome.status(self.engine, str(listed["Id"])) or GONE

    def logs(self, handle: Handle, offset: int = 0, follow: bool = False) -> Iterator[bytes]:
        """The engine keeps the end of very long output. When following, one that stops answering is waited for."""
        pause = 0.2
        while True:
            try:
                for chunk in self._read_output(handle, offset, follow):
                    offset += len(chunk)
                    pause = 0.2
                    yield chunk
                if not follow or self.status([handle])[handle].phase in ("exited", "gone"):
                    # What came between the end of the stream and the end of the job.
                    yield from self._read_output(handle, offset, follow=False)
                    return
            except BackendUnreachable:
                if not follow:
                    raise
            time.sleep(pause)
            pause = min(10.0, pause * 2)

    def _read_output(self, handle: Handle, offset: int, follow: bool) -> Iterator[bytes]:
        import docker.errors

        try:
            with self.engine.request(f"reading the output of {handle.name}"):
                for chunk in self.engine.output(handle.name, follow):
                    if offset < len(chunk):
                        yield chunk[offset:]
                    offset = max(0, offset - len(chunk))
        except docker.errors.NotFound:
            if not follow:
                raise BackendError(f"{handle.name} is no longer on this engine, and neither is its output") from None

    def fetch(self, handle: Handle, globs: Sequence[str], into: Path, max_bytes: int, max_files: int) -> Fetched:
        return fetching.fetch(self.engine, handle, globs, into, max_bytes, max_files)

    def stop(self, handle: Handle, grace: float) -> None:
        """End a job, then its relay and its gateway. Idempotent."""
        import docker.errors

        with self.engine.request(f"stopping {handle.name}"), contextlib.suppress(docker.errors.APIError):
            self.engine.api.kill(handle.name, outcome.STOP_SIGNAL)  # refused if it does not run
        for name in (handle.name, names.relay(handle.name), names.gateway(handle.name)):
            with self.engine.request(f"stopping {handle.name}"), contextlib.suppress(docker.errors.NotFound):
                self.engine.api.stop(name, timeout=math.ceil(grace + INIT_MARGIN))

    def remove(self, handle: Handle) -> None:
        remove(self.engine, handle.name)


def _cgroup(info: Mapping[str, Any], key: str) -> Enforcement:
    if info.get(key) is False:
        return Enforcement(level="absent", how="the engine has no such cgroup controller")
    return Enforcement(level="enforced", how="cgroup")
