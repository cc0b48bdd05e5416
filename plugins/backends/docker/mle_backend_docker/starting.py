"""Starting a job, once, even if another controller starts it too or an earlier start was interrupted."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from attrs import evolve

from mle_backend_docker import archive, container, gateway, images, names, network, system_calls
from mle_backend_docker.disk import limits_disk
from mle_backend_docker.engine import Engine
from mle_backend_docker.gpus import Gpus
from mle_backend_docker.locks import locked
from mle_backend_docker.removing import remove_job
from mle_backend_docker.settings import Settings
from mle_backend_docker.users import User, user_of
from mlecore.backends import Handle, Job, secret_values
from mlecore.errors import BackendError, BackendUnreachable, ImageGone

PATIENCE = 20.0  # seconds after which the creator of a container that was not started counts as dead


class Starter:
    """Starts jobs for one backend; keeps what is known of images."""

    def __init__(self, engine: Engine, settings: Settings, gpus: Gpus) -> None:
        self.engine = engine
        self.settings = settings
        self.gpus = gpus
        self._users: dict[str, User] = {}

    def start(self, job: Job) -> Handle:
        """Creating the container claims the job: names are unique at an engine. The rest can be done again."""
        names.check(job)
        with locked(job.name):
            return self._start(job)

    def _start(self, job: Job) -> Handle:
        found = self._inspect(job.name)
        made = False
        if found is None:
            image, user = self._image(job)
            if not (image["Config"].get("Labels") or {}).get(names.RECIPE):
                job = evolve(
                    job, resources=evolve(job.resources, writable_root=True)
                )  # an image that was not made for us runs as it was meant to
            found, made = self._create(job, image["Id"], user)
        if (found["Config"].get("Labels") or {}).get(names.JOB) != job.name:
            raise BackendError(
                f"a container named {job.name} is there that mlecore did not start",
                fix=f"docker rename {job.name} other",
            )
        if not made and found["State"]["Status"] == "created":
            found = self._wait(job, found)
        if found["State"]["Status"] == "created":
            try:
                self._fill_and_start(job, found)
            except BackendUnreachable:
                raise
            except BackendError:
                remove_job(self.engine, job.name)  # it never ran
                raise
        return names.handle(job.name, found["Id"], self.engine.id)

    def _inspect(self, name: str) -> dict[str, Any] | None:
        import docker.errors

        with self.engine.request(f"looking for {name}"):
            try:
                found: dict[str, Any] = self.engine.api.inspect_container(name)
            except docker.errors.NotFound:
                return None
        return found

    def _image(self, job: Job) -> tuple[Mapping[str, Any], User]:
        import docker.errors

        with self.engine.request(f"looking at the image {job.image.ref}"):
            try:
                image: Mapping[str, Any] = self.engine.api.inspect_image(job.image.ref)
            except docker.errors.NotFound:
                raise ImageGone(
                    f"the image {job.image.ref} is no longer there", fix="mlecore runs retry builds it again."
                ) from None
        user = self._users.get(image["Id"])
        if user is None:
            user = self._users[image["Id"]] = user_of(self.engine, image, self.settings.user)
        return image, user

    def _create(self, job: Job, image: str, user: User) -> tuple[dict[str, Any], bool]:
        """The container and whether it was made here."""
        import docker.errors

        resources = job.resources
        labels = names.labels(job, "agent", self.settings.labels)
        selinux = self.engine.security("selinux")
        try:
            relay = images.relay_image(self.engine, self.settings) if resources.network == "llm" else ""
            if resources.model is not None:
                gateway.start(self.engine, self.settings, job, labels, selinux)
            attachment = network.provide(self.engine, job, relay, labels, selinux)
            with self.gpus.claim(job) as ids:
                if ids:
                    labels[names.GPUS] = ",".join(ids)
                size = resources.disk if resources.disk is not None and limits_disk(self.engine) else None
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
                        engine_memory=int(self.engine.info.get("MemTotal") or 0),
                        volumes=container.mounts(job, {**labels, names.ROLE: "volume"}, size),
                        size=size,
                        selinux=selinux,
                        podman=self.engine.is_podman,
                        filtered=system_calls.is_ours(self.engine),
                    ),
                }
                with self.engine.request(f"creating the container of {job.name}"):
                    try:
                        self.engine.api.create_container_from_config(config, name=job.name)
                        made = True
                    except docker.errors.NotFound as error:
                        raise ImageGone(f"the image {job.image.ref} has just been removed: {error}") from None
                    except docker.errors.APIError as error:
                        if error.status_code != 409:
                            raise
                        made = False
        except BackendUnreachable:
            raise
        except BackendError:
            if self._inspect(job.name) is None:
                remove_job(self.engine, job.name)
            raise
        found = self._inspect(job.name)
        if found is None:
            raise BackendUnreachable(f"the container of {job.name} was there and is gone again; somebody removed it")
        return found, made

    def _wait(self, job: Job, found: dict[str, Any]) -> dict[str, Any]:
        """Another controller created it, one that our lock does not reach (in a container) or that has died."""
        while found["State"]["Status"] == "created" and _age(found["Created"]) < PATIENCE:
            time.sleep(0.1)
            again = self._inspect(job.name)
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
            with archive.home_archive(job, (int(uid), int(gid)), secret_values(job)) as home, self._starting(job):
                self.engine.api.put_archive(found["Id"], "/home", home)
            tools.result()
            cleared = beside.submit(self._clear, filler)
            with self._starting(job):
                self.engine.api.start(found["Id"])
            cleared.result()

    def _fill_tools(self, job: Job, found: Mapping[str, Any], filler: str) -> None:
        """The agent's container mounts /opt/mlecore read-only; it is filled through one that is never started."""
        self._clear(filler)  # of a start that was cut off
        config = {
            "Image": found["Image"],
            "Entrypoint": [],
            "Cmd": ["true"],
            "User": "0:0",
            "Labels": {**found["Config"]["Labels"], names.ROLE: "fill"},
            "NetworkDisabled": True,
            "HostConfig": {"Mounts": [{"Type": "volume", "Source": names.tools(job.name), "Target": names.TOOLS}]},
        }
        with archive.tools_archive(job) as tools, self._starting(job):
            self.engine.api.create_container_from_config(config, name=filler)
            self.engine.api.put_archive(filler, names.TOOLS, tools)

    def _clear(self, filler: str) -> None:
        import docker.errors

        with self.engine.request(f"removing {filler}"), contextlib.suppress(docker.errors.NotFound):
            self.engine.api.remove_container(filler, v=True, force=True)  # with the volumes that its image asks for

    @contextmanager
    def _starting(self, job: Job) -> Iterator[None]:
        import docker.errors

        try:
            with self.engine.request(f"starting {job.name}"):
                yield
        except docker.errors.NotFound as error:
            raise BackendError(f"{job.name} cannot be started: {error.explanation or error}") from None


def _age(created: str) -> float:
    """Seconds since an engine's time stamp (its clock is this machine's)."""
    return (datetime.now(UTC) - moment(created)).total_seconds()


def moment(text: str) -> datetime:
    """An engine's time stamp, which has nanoseconds or less."""
    found = datetime.fromisoformat(text)
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)
