"""Backend `docker`: the sandbox of the design as a container, on an engine (Docker or Podman) on this machine.

Engine and controller share a machine, because public data are mounted from it. See container.py for what a container
looks like and where its files live, network.py for what it can reach, outcome.py for how ends are distinguished.
"""

from __future__ import annotations

import contextlib
import io
import math
import os
import stat
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import urlsplit

from attrs import evolve

from mle_backend_docker import (
    container,
    fetching,
    gateway,
    images,
    names,
    network,
    outcome,
    preflight,
    system_calls,
)
from mle_backend_docker.containers import INIT_MARGIN, handle_of, id_of, place_of
from mle_backend_docker.engine import Engine, locked, moment
from mle_backend_docker.gpus import Gpus
from mle_backend_docker.settings import Settings
from mle_backend_docker.users import User, user_of
from mlecore.agents import Recipe
from mlecore.backends import (
    GONE,
    Backend,
    CachedImage,
    Capacity,
    Dataset,
    Enforcement,
    Fetched,
    Handle,
    Image,
    Job,
    JobStatus,
    Problem,
    Progress,
    Resources,
    Sandbox,
    secret_values,
)
from mlecore.errors import BackendError, BackendUnreachable, ImageGone
from mlecore.options import Option, declared, read_settings

CREATOR_TIMEOUT = 20.0  # seconds after which the creator of a container that was not started counts as dead
REMOVAL_TIMEOUT = 60.0  # seconds
CHECKED_ENTRIES = 2000  # of public data, which one program prepares, so that a few stand for all


class DockerBackend(Backend):
    """Thread-safe: each thread has its own connection."""

    summary: ClassVar[str] = "containers of a Docker or Podman engine on this machine"
    options: ClassVar[tuple[Option, ...]] = declared(Settings)

    def __init__(self, options: Mapping[str, str], engine: Engine | None = None) -> None:
        self.settings = read_settings(Settings, options, "backend docker")
        self.engine = engine or Engine()
        self.gpus = Gpus(self.engine, self.settings.gpus)
        self._backstop = outcome.Backstop(self.engine)
        self._users: dict[str, User] = {}  # by image

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
        public = dataset.public.resolve()
        if not public.is_dir():
            raise BackendError(f"the public data of {dataset.competition} are not at {public}")
        for path in islice(_entries(public), CHECKED_ENTRIES):
            mode = path.lstat().st_mode
            needed = stat.S_IROTH | stat.S_IXOTH if stat.S_ISDIR(mode) else stat.S_IROTH
            if not stat.S_ISLNK(mode) and mode & needed != needed:
                raise BackendError(
                    f"{path} cannot be read by others, and the agent runs as another user than you",
                    fix=f"chmod -R a+rX {public}",
                )
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
        """Start a job, once, even if another controller starts it too or an earlier start was interrupted.

        Creating the container claims the job: names are unique at an engine. The rest can be done again.
        """
        names.check(job)
        with locked(job.name):
            return self._start(job)

    def _start(self, job: Job) -> Handle:
        found, created = self.engine.container(job.name), False
        if found is None:
            image, user = self._image(job)
            if not (image["Config"].get("Labels") or {}).get(names.RECIPE):
                # An image that was not built for us runs as it was meant to.
                job = evolve(job, resources=evolve(job.resources, writable_root=True))
            found, created = self._create(job, image["Id"], user)
        if (found["Config"].get("Labels") or {}).get(names.JOB) != job.name:
            raise BackendError(
                f"a container that mlecore did not start is named {job.name}",
                fix=f"docker rename {job.name} other",
            )
        if not created:
            found = self._wait_for_creator(job, found)
        if found["State"]["Status"] == "created":
            try:
                self._fill_and_start(job, found)
            except BackendUnreachable:
                raise
            except BackendError:
                self._remove(job.name)  # it never ran
                raise
        return handle_of(job.name, found["Id"], self.engine.id)

    def _image(self, job: Job) -> tuple[Mapping[str, Any], User]:
        image = self.engine.image(job.image.ref)
        if image is None:
            raise ImageGone(f"the image {job.image.ref} is no longer there", fix="mlecore runs retry builds it again.")
        if image["Id"] not in self._users:
            self._users[image["Id"]] = user_of(self.engine, image, self.settings.user)
        return image, self._users[image["Id"]]

    def _create(self, job: Job, image: str, user: User) -> tuple[dict[str, Any], bool]:
        """The container, and whether it was created here."""
        import docker.errors

        resources, engine = job.resources, self.engine
        labels = names.labels(job, "agent", self.settings.labels)
        selinux = engine.security("selinux")
        try:
            relay = images.relay_image(engine, self.settings) if resources.network == "llm" else ""
            if resources.model is not None:
                gateway.start(engine, self.settings, job, labels, selinux)
            attachment = network.provide(engine, job, relay, labels, selinux)
            with self.gpus.claim(job) as ids:
                if ids:
                    labels[names.GPUS] = ",".join(ids)
                size = resources.disk if resources.disk is not None and engine.limits_disk else None
                variables = container.environment(job, user, ids, attachment.proxy, attachment.gateway)
                config = {
                    "Image": image,
                    "Entrypoint": [],
                    "Cmd": container.command(job),
                    "User": user.spec,
                    "WorkingDir": "/home",
                    "Tty": resources.terminal,
                    "Env": [f"{key}={value}" for key, value in variables.items()],
                    "Labels": {**labels, names.SECONDS: f"{resources.time_limit + resources.grace:.2f}"},
                    "Healthcheck": {"Test": ["NONE"]},
                    "StopSignal": "SIGTERM",
                    "HostConfig": container.host_config(
                        job,
                        network=attachment.mode,
                        hosts=attachment.hosts,
                        gpus=ids,
                        runtime=self.settings.runtime,
                        engine_memory=int(engine.info.get("MemTotal") or 0),
                        volumes=container.mounts(job, {**labels, names.ROLE: "volume"}, size),
                        size=size,
                        selinux=selinux,
                        podman=engine.is_podman,
                        filtered=system_calls.is_ours(engine),
                    ),
                }
                try:
                    with engine.request(f"creating the container of {job.name}"):
                        created = engine.create(config, job.name)
                except docker.errors.NotFound as error:
                    raise ImageGone(f"the image {job.image.ref} has just been removed: {error}") from None
        except BackendUnreachable:
            raise
        except BackendError:
            if engine.container(job.name) is None:
                self._remove(job.name)
            raise
        found = engine.container(job.name)
        if found is None:
            raise BackendUnreachable(f"the container of {job.name} was there and is gone again; somebody removed it")
        return found, created

    def _wait_for_creator(self, job: Job, found: dict[str, Any]) -> dict[str, Any]:
        """Another controller created it, one that our lock does not reach (in a container) or that has died."""
        created = moment(found["Created"])  # the engine's clock is this machine's
        while found["State"]["Status"] == "created":
            if (datetime.now(UTC) - created).total_seconds() > CREATOR_TIMEOUT:
                break
            time.sleep(0.1)
            again = self.engine.container(job.name)
            if again is None:
                raise BackendUnreachable(f"{job.name} was being started by another controller, which gave it up")
            found = again
        return found

    def _fill_and_start(self, job: Job, found: Mapping[str, Any]) -> None:
        """Both volumes are filled at once, as the engine takes its time for each."""
        filler = f"{job.name}-fill"
        with ThreadPoolExecutor(1, "tools") as beside:
            tools = beside.submit(self._fill_tools, job, found, filler)
            uid, _, gid = found["Config"]["User"].partition(":")
            if not found["Config"]["Labels"].get(names.RECIPE):
                self._open_home(job, found)
            with container.home_archive(job, (int(uid), int(gid)), secret_values(job)) as home, self._starting(job):
                self.engine.api.put_archive(found["Id"], "/home", home)
            tools.result()
            removed = beside.submit(self.engine.remove, filler)
            with self._starting(job):
                self.engine.api.start(found["Id"])
            removed.result()

    def _fill_tools(self, job: Job, found: Mapping[str, Any], filler: str) -> None:
        """The agent's container mounts /opt/mlecore read-only; it is filled through one that is never started."""
        self.engine.remove(filler)  # of a start that was cut off
        config = {
            "Image": found["Image"],
            "Entrypoint": [],
            "Cmd": ["true"],
            "User": "0:0",
            "Labels": {**found["Config"]["Labels"], names.ROLE: "fill"},
            "NetworkDisabled": True,
            "HostConfig": {"Mounts": [{"Type": "volume", "Source": names.tools(job.name), "Target": names.TOOLS}]},
        }
        with container.tools_archive(job) as tools, self._starting(job):
            self.engine.api.create_container_from_config(config, name=filler)
            self.engine.api.put_archive(filler, names.TOOLS, tools)

    def _open_home(self, job: Job, found: Mapping[str, Any]) -> None:
        """Let the agent write what its ready-made image has below /home, as the entrypoint of MLE-bench's images does.

        The image's own root does it, without capabilities, and with nothing in reach but the run's volumes.
        """
        opener = f"{job.name}-open"
        self.engine.remove(opener)  # of a start that was cut off
        config = {
            "Image": found["Image"],
            "Entrypoint": [],
            "Cmd": container.OPEN_HOME,
            "User": "0:0",
            "Labels": {**found["Config"]["Labels"], names.ROLE: "fill"},
            "HostConfig": {
                **container.hardened(self.engine.security("selinux")),
                "NetworkMode": "none",
                "VolumesFrom": [found["Id"]],
            },
        }
        with self._starting(job):
            self.engine.api.create_container_from_config(config, name=opener)
            self.engine.api.start(opener)
            self.engine.api.wait(opener)  # whatever it says: an image without these programs has other agents
        self.engine.remove(opener)

    @contextmanager
    def _starting(self, job: Job) -> Iterator[None]:
        import docker.errors

        try:
            with self.engine.request(f"starting {job.name}"):
                yield
        except docker.errors.NotFound as error:
            raise BackendError(f"{job.name} cannot be started: {error.explanation or error}") from None

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
                raise BackendError(f"{handle.name} is no longer at this engine, and its output neither") from None

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
        self._remove(handle.name)

    def _remove(self, job_name: str) -> None:
        """Remove all that carries the job's label; idempotent. Raises BackendError for what cannot be removed."""
        deadline = time.monotonic() + REMOVAL_TIMEOUT
        while left := self._sweep(job_name):
            if time.monotonic() > deadline:
                raise BackendError(
                    f"{job_name} cannot be removed: {left}",
                    fix=f"docker ps -a --filter label={names.JOB}={job_name}",
                )
            time.sleep(0.2)

    def _sweep(self, job_name: str) -> str:
        """Try once to remove everything; returns why something is left, or nothing."""
        import docker.errors

        label, api = {"label": f"{names.JOB}={job_name}"}, self.engine.api
        problems = []

        def attempt(remove: Any, *args: Any, **options: Any) -> None:
            try:
                remove(*args, **options)
            except docker.errors.NotFound:
                pass
            except docker.errors.APIError as error:  # being removed already, or a mount that is still busy
                problems.append(str(error.explanation or error))

        with self.engine.request(f"removing {job_name}"):
            containers = api.containers(all=True, filters=label)
            roles = [(each.get("Labels") or {}).get(names.ROLE) for each in containers]
            for _, each in sorted(zip(roles, containers, strict=True), key=lambda pair: pair[0] != "agent"):
                attempt(api.remove_container, each["Id"], v=True, force=True)
            if "gateway" in roles:
                with contextlib.suppress(docker.errors.APIError):  # there is none, or another gateway has it
                    api.remove_volume(gateway.CALLS)
            for volume in api.volumes(filters=label)["Volumes"] or ():
                attempt(api.remove_volume, volume["Name"])
            for each in api.networks(filters=label):
                attempt(api.remove_network, each["Id"])
        return problems[-1] if problems else ""


def _cgroup(info: Mapping[str, Any], key: str) -> Enforcement:
    if info.get(key) is False:
        return Enforcement(level="absent", how="the engine has no such cgroup controller")
    return Enforcement(level="enforced", how="cgroup")


def _entries(folder: Path) -> Iterator[Path]:
    yield folder
    for where, folders, files in os.walk(folder):
        for name in (*folders, *files):
            yield Path(where) / name
