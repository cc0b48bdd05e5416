"""The engine: where it listens, and what its answers mean. Everything that talks to it goes through here."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import tempfile
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import urlsplit

from mlecore.errors import BackendError, BackendUnreachable
from mlecore_sandboxes.containers import names

if TYPE_CHECKING:
    from docker import APIClient
    from docker.errors import APIError

OLDEST = "1.24"  # of its interface's versions, that every engine understands; enough to ask for its own
SECONDS = 120.0  # a busy engine takes its time; past it, it counts as unreachable, never as an answer

FULL = 16384  # bytes that Docker reads of a line before it cuts it

START_IT = "Start it (systemctl start docker, or Docker Desktop), or set DOCKER_HOST to where it listens."


def endpoint() -> str:
    """Where the engine listens: DOCKER_HOST, else the current context of the docker program, else the usual sockets."""
    if host := os.environ.get("DOCKER_HOST"):
        return host
    from docker.context import ContextAPI

    try:
        context = ContextAPI.get_current_context()
    except Exception:  # a damaged ~/.docker must not stand in the way of the usual socket
        context = None
    if context is not None and context.Name != "default" and context.Host:
        return str(context.Host)
    runtime = os.environ.get("XDG_RUNTIME_DIR", f"/run/user/{os.getuid()}")
    usual = [
        "/var/run/docker.sock",
        f"{runtime}/docker.sock",
        f"{runtime}/podman/podman.sock",
        "/run/podman/podman.sock",
    ]
    return "unix://" + next((path for path in usual if Path(path).exists()), usual[0])


class Engine:
    """A connection for each thread, made when it is first needed."""

    def __init__(self, host: str | None = None) -> None:
        self._host = host
        self._local = threading.local()

    @cached_property
    def host(self) -> str:
        return self._host or endpoint()

    @property
    def api(self) -> APIClient:
        """The docker package's client for this thread. Use it inside ``request``."""
        api = getattr(self._local, "api", None)
        if api is None:
            api = self._local.api = self._connect(SECONDS)
        return api

    def streaming(self) -> APIClient:
        """A separate client that waits for the next byte as long as it takes; close it."""
        return self._connect(None)

    def _connect(self, seconds: float | None, speaks: str | None = None) -> APIClient:
        """``speaks``: the version of its interface; that of the engine by default."""
        import docker
        from docker.utils import kwargs_from_env

        speaks = speaks or str(self.version["ApiVersion"])
        settings: dict[str, Any] = {key: value for key, value in kwargs_from_env().items() if key != "base_url"}
        with self.request("connecting"):
            return docker.APIClient(base_url=self.host, version=speaks, timeout=seconds, **settings)

    @property
    def is_local(self) -> bool:
        """On this machine, as far as its address tells."""
        parts = urlsplit(self.host)
        return parts.scheme in ("unix", "npipe", "") or parts.hostname in ("localhost", "127.0.0.1", "::1")

    @contextmanager
    def request(self, what: str) -> Iterator[None]:
        """Turn what goes wrong with a request into BackendUnreachable or BackendError; NotFound passes through."""
        import docker.errors
        import requests
        import urllib3

        try:
            yield
        except docker.errors.NotFound:
            raise
        except docker.errors.APIError as error:
            raise _refused(error, what) from error
        except (
            requests.exceptions.RequestException,
            urllib3.exceptions.HTTPError,
            docker.errors.DockerException,
            ConnectionError,
        ) as error:
            raise self._unreachable(error, what) from error

    def _unreachable(self, error: BaseException, what: str) -> BackendError:
        text = str(error)
        if "Permission denied" in text or "PermissionError" in text:
            return BackendError(
                f"{what}: no permission to use the Docker engine at {self.host}",
                fix="Join the group docker and log in again (usermod -aG docker $USER), or use a rootless engine.",
            )
        if "timed out" in text.lower():
            return BackendUnreachable(
                f"{what}: the Docker engine at {self.host} did not answer within {SECONDS:g} s",
                fix="It is overloaded or stuck; see its log (journalctl -u docker).",
            )
        return BackendUnreachable(
            f"{what}: the Docker engine at {self.host} does not answer: {_short(text)}", fix=START_IT
        )

    @cached_property
    def info(self) -> Mapping[str, Any]:
        """What the engine says about itself; asked once."""
        with self.request("asking what engine it is"):
            info: Mapping[str, Any] = self.api.info()
        return info

    @cached_property
    def version(self) -> Mapping[str, Any]:
        """What it says about its version; the first thing that it is asked, once."""
        client = self._connect(SECONDS, OLDEST)
        with self.request("asking for its version"):
            version: Mapping[str, Any] = client.version(api_version=False)
        client.close()
        return version

    @property
    def is_podman(self) -> bool:
        return any("podman" in str(part.get("Name", "")).lower() for part in self.version.get("Components") or ())

    @cached_property
    def id(self) -> str:
        """Tells engines apart, so that a job is never called gone by an engine that never had it."""
        if self.is_podman:  # it makes up a new ID for every answer
            where = f"{self.info.get('Name')}:{self.info.get('DockerRootDir')}"
        else:
            where = str(self.info.get("ID"))
        return hashlib.sha256(where.encode()).hexdigest()[:12]

    def container(self, name: str) -> dict[str, Any] | None:
        """As the engine describes it; None if there is none."""
        import docker.errors

        with self.request(f"looking for {name}"), contextlib.suppress(docker.errors.NotFound):
            found: dict[str, Any] = self.api.inspect_container(name)
            return found
        return None

    def image(self, ref: str) -> dict[str, Any] | None:
        """As the engine describes it; None if there is none."""
        import docker.errors

        with self.request(f"looking for the image {ref}"), contextlib.suppress(docker.errors.NotFound):
            found: dict[str, Any] = self.api.inspect_image(ref)
            return found
        return None

    def create(self, config: Mapping[str, Any], name: str) -> bool:
        """Create a container unless there is one of this name; was it created? Use it inside ``request``."""
        import docker.errors

        try:
            self.api.create_container_from_config(config, name=name)
        except docker.errors.APIError as error:
            if error.status_code != 409:
                raise
            return False
        return True

    def output(self, container: str, follow: bool) -> Iterator[bytes]:
        """All output of a container, as its process wrote it. Use it inside ``request``."""
        client = self.streaming() if follow else self.api
        try:
            terminal = client.inspect_container(container)["Config"]["Tty"]
            params = {"stdout": 1, "stderr": 1, "follow": int(follow)}
            address = client._url("/containers/{0}/logs", container)
            with client.get(address, params=params, stream=True, timeout=client.timeout) as answer:
                client._raise_for_status(answer)
                if terminal:
                    yield from answer.iter_content(None)
                else:
                    yield from whole_lines(frames(answer.raw), full=0 if self.is_podman else FULL)
        finally:
            if follow:
                client.close()

    def remove(self, container: str) -> None:
        """Remove a container, if there is one, with the volumes that its image asks for."""
        import docker.errors

        with self.request(f"removing {container}"), contextlib.suppress(docker.errors.NotFound):
            self.api.remove_container(container, v=True, force=True)

    @cached_property
    def limits_disk(self) -> bool:
        """Can it limit what a container writes? Only trying shows; XFS with project quotas can, for example."""
        import docker.errors

        name = "mlecore-quota"  # always the same, so that one who is killed here leaves it for the next to remove
        try:
            with self.request("asking for a volume with a size"):
                options = {"size": str(64 * 1024 * 1024)}
                self.api.create_volume(name, driver="local", driver_opts=options, labels={names.ROLE: "look"})
        except BackendUnreachable:
            raise
        except BackendError:
            return False
        with self.request("removing a volume"), contextlib.suppress(docker.errors.NotFound):
            self.api.remove_volume(name)
        return not self.is_podman  # which takes the option and may do nothing about it

    def security(self, name: str) -> bool:
        """Is one of its security options on: rootless, userns, selinux, apparmor ...?"""
        return any(f"name={name}" in str(option) for option in self.info.get("SecurityOptions") or ())


def _short(text: str) -> str:
    return text if len(text) <= 300 else text[:300] + " ..."


def _refused(error: APIError, what: str) -> BackendError:
    text = str(error.explanation or error).strip()
    if "no space left on device" in text.lower() or "disk quota exceeded" in text.lower():
        return BackendError(
            f"{what}: the Docker engine's disk is full: {_short(text)}",
            fix="Free disk space: `docker system df` shows its use, `mlecore images prune` removes unused images.",
        )
    if "address pool" in text:
        return BackendError(
            f"{what}: the Docker engine has no address range left for one more network",
            fix="Lower --max-parallel, remove unused networks (docker network prune), or give the engine more"
            " default-address-pools in daemon.json.",
        )
    if "bind source path does not exist" in text or "statfs" in text:
        return BackendError(
            f"{what}: the engine does not see the data's folder: {_short(text)}",
            fix="It must run on this machine and see its files (Docker Desktop: Settings, Resources, File sharing).",
        )
    if "could not select device driver" in text:
        return BackendError(
            f"{what}: the engine cannot give GPUs to containers: {_short(text)}",
            fix="Install the NVIDIA Container Toolkit and restart the engine.",
        )
    return BackendError(f"{what}: the Docker engine refused: {_short(text)}")


def moment(text: str) -> datetime:
    """An engine's time stamp, which has nanoseconds or less."""
    found = datetime.fromisoformat(text)
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


@contextmanager
def locked(name: str) -> Iterator[None]:
    """Hold the lock ``name`` among controllers on this machine; the kernel drops those of one that dies."""
    path = Path(tempfile.gettempdir()) / f"mlecore-docker-{name}.lock"
    descriptor = _acquire(path)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
        os.close(descriptor)


def _acquire(path: Path) -> int:
    while True:
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        except FileNotFoundError:
            descriptor = os.open(path, os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        try:
            if os.fstat(descriptor).st_ino == path.stat().st_ino:
                return descriptor
        except FileNotFoundError:
            pass
        os.close(descriptor)  # its last holder removed it while we waited


def frames(raw: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    """What the engine sends: (1 for standard output or 2 for standard error, bytes); it cuts at line ends."""
    while len(head := raw.read(8)) == 8:
        yield head[0], raw.read(int.from_bytes(head[4:], "big"))


def whole_lines(found: Iterable[tuple[int, bytes]], full: int) -> Iterator[bytes]:
    """Give lines that are longer than a frame their ends back.

    Docker's log driver ``local``, the only one that keeps every byte, loses the end of a line that took more than one
    frame. So a frame that is neither full nor the last of its stream, and has no line end, has lost it. (``full`` is 0
    where frames mean nothing.)
    """
    lost = set()
    for stream, content in found:
        if stream in lost:
            lost.discard(stream)
            yield b"\n"
        if content and not content.endswith(b"\n") and len(content) < full:
            lost.add(stream)
        yield content
