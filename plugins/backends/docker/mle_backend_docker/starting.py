"""Starting a job: its container is created, which claims the name; its volumes are filled; then it is started."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from attrs import evolve

from mle_backend_docker import container, gateway, network, system_calls
from mle_backend_docker.gpus import Gpus
from mle_backend_docker.removing import remove
from mle_backend_docker.settings import Settings
from mle_backend_docker.users import User, user_of
from mlecore.errors import BackendError, BackendUnreachable, ImageGone
from mlecore.model.backends import Handle, Job
from mlecore_sandboxes.containers import handle_of, images, names
from mlecore_sandboxes.containers.engine import Engine, locked, moment
from mlecore_sandboxes.variables import secret_values

CREATOR_TIMEOUT = 20.0  # seconds after which the creator of a container that was not started counts as dead


class Starter:
    """Starts the jobs of one backend. Thread-safe."""

    def __init__(self, engine: Engine, settings: Settings, gpus: Gpus) -> None:
        self._engine, self._settings, self._gpus = engine, settings, gpus
        self._users: dict[str, User] = {}  # by image

    def start(self, job: Job) -> Handle:
        """Start a job, once, even if another controller starts it too or an earlier start was interrupted.

        Creating the container claims the job: names are unique at an engine. The rest can be done again.
        """
        with locked(job.name):
            return self._start(job)

    def _start(self, job: Job) -> Handle:
        found, created = self._engine.container(job.name), False
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
                remove(self._engine, job.name)  # it never ran
                raise
        return handle_of(job.name, found["Id"], self._engine.id)

    def _image(self, job: Job) -> tuple[Mapping[str, Any], User]:
        image = self._engine.image(job.image.ref)
        if image is None:
            raise ImageGone(f"the image {job.image.ref} is no longer there", fix="mlecore runs retry builds it again.")
        if image["Id"] not in self._users:
            self._users[image["Id"]] = user_of(self._engine, image, self._settings.user)
        return image, self._users[image["Id"]]

    def _create(self, job: Job, image: str, user: User) -> tuple[dict[str, Any], bool]:
        """The container, and whether it was created here."""
        import docker.errors

        resources, engine = job.resources, self._engine
        labels = names.labels(job, "agent", self._settings.labels)
        selinux = engine.security("selinux")
        try:
            relay = images.relay_image(engine, self._settings) if resources.network == "llm" else ""
            if resources.model is not None:
                gateway.start(engine, self._settings, job, labels, selinux)
            attachment = network.provide(engine, job, relay, labels, selinux)
            with self._gpus.claim(job) as ids:
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
                        runtime=self._settings.runtime,
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
                remove(self._engine, job.name)
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
            again = self._engine.container(job.name)
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
                self._engine.api.put_archive(found["Id"], "/home", home)
            tools.result()
            removed = beside.submit(self._engine.remove, filler)
            with self._starting(job):
                self._engine.api.start(found["Id"])
            removed.result()

    def _fill_tools(self, job: Job, found: Mapping[str, Any], filler: str) -> None:
        """The agent's container mounts /opt/mlecore read-only; it is filled through one that is never started."""
        self._engine.remove(filler)  # of a start that was cut off
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
            self._engine.api.create_container_from_config(config, name=filler)
            self._engine.api.put_archive(filler, names.TOOLS, tools)

    def _open_home(self, job: Job, found: Mapping[str, Any]) -> None:
        """Let the agent write what its ready-made image has below /home, as the entrypoint of MLE-bench's images does.

        The image's own root does it, without capabilities, and with nothing in reach but the run's volumes.
        """
        opener = f"{job.name}-open"
        self._engine.remove(opener)  # of a start that was cut off
        config = {
            "Image": found["Image"],
            "Entrypoint": [],
            "Cmd": container.OPEN_HOME,
            "User": "0:0",
            "Labels": {**found["Config"]["Labels"], names.ROLE: "fill"},
            "HostConfig": {
                **container.hardened(self._engine.security("selinux")),
                "NetworkMode": "none",
                "VolumesFrom": [found["Id"]],
            },
        }
        with self._starting(job):
            self._engine.api.create_container_from_config(config, name=opener)
            self._engine.api.start(opener)
            self._engine.api.wait(opener)  # whatever it says: an image without these programs has other agents
        self._engine.remove(opener)

    @contextmanager
    def _starting(self, job: Job) -> Iterator[None]:
        import docker.errors

        try:
            with self._engine.request(f"starting {job.name}"):
                yield
        except docker.errors.NotFound as error:
            raise BackendError(f"{job.name} cannot be started: {error.explanation or error}") from None
