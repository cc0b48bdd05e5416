"""The gateway beside a job, in its own container; the relay's container forwards to its Unix socket.

Its settings, which hold the model's key, lie in a volume that no other container mounts, in a file that only its user
can read: neither the image, nor ``docker inspect``, nor any log shows them. The engine starts it again when it dies. A
model that listens on this machine's loopback is reached from the host's network, any other from a bridge.
"""

from __future__ import annotations

import io
import tarfile
import tempfile
import time
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from mle_backend_docker.container import hardened, log_config
from mle_backend_docker.settings import Settings
from mlecore.errors import BackendError
from mlecore.model.backends import Job
from mlecore.model.model_access import gateway, recipe
from mlecore_sandboxes.containers import images, is_loopback, names
from mlecore_sandboxes.containers.engine import Engine

VOLUME = PurePosixPath("/run/gateway")
FOLDER = VOLUME / "own"  # a volume itself is root's
SOCKET = FOLDER / "gateway.sock"
USER = 65534
MEMORY = 2 * 1024**3
CALLS = "mlecore-calls"  # the volume in which gateways at this engine count the calls under way
_SETTINGS = PurePosixPath("/settings")
_CALLS = PurePosixPath("/calls")
_SLOTS = _CALLS / "own"
_READY = 60.0  # seconds


def image(engine: Engine, settings: Settings) -> str:
    """The base image with the gateway in it; built once for each version of the gateway."""
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        return images.build(engine, settings, recipe(), Path(folder) / "build.log").ref


def start(engine: Engine, settings: Settings, job: Job, labels: Mapping[str, str], selinux: bool) -> None:
    """It listens when it returns; idempotent by its name. Raises BackendError."""
    access = job.resources.model
    assert access is not None
    name = names.gateway(job.name)
    slots = str(_SLOTS) if access.max_calls is not None else None
    process = gateway(access, job.name, listen=f"unix:{SOCKET}", folder=str(FOLDER), slots=slots, python="python3")
    built = image(engine, settings)
    shared = {"Type": "volume", "Source": CALLS, "Target": str(_CALLS)}
    config = {
        "Image": built,
        "Entrypoint": [process.argv[0]],
        "Cmd": [*process.argv[2:], "--settings", str(_SETTINGS / "settings.json")],  # without -I, which hides its files
        "WorkingDir": "/opt/gateway",
        "User": f"{USER}:{USER}",
        "Labels": {**labels, names.ROLE: "gateway"},
        "Healthcheck": {"Test": ["NONE"]},
        "HostConfig": {
            **hardened(selinux),
            "NetworkMode": "host" if is_loopback(access.endpoint) else "bridge",
            "ExtraHosts": ["host.docker.internal:host-gateway"],
            "ReadonlyRootfs": True,
            "RestartPolicy": {"Name": "unless-stopped"},
            "PidsLimit": 128,
            "Memory": MEMORY,
            "Mounts": [mount(job, labels), _volume(labels, _SETTINGS), *([shared] if slots else [])],
            "LogConfig": log_config(engine.is_podman, 1 << 20, 1),
        },
    }
    with engine.request(f"starting the gateway of {job.name}"):
        api = engine.api
        engine.create(config, name)
        if api.inspect_container(name)["State"]["Status"] == "created":  # also one of a start that was cut off
            for folder in (FOLDER, *([_SLOTS] if slots else [])):
                api.put_archive(name, str(folder.parent), _archive(folder.name))
            api.put_archive(name, str(_SETTINGS), _archive("settings.json", process.settings))
        api.start(name)
        deadline = time.monotonic() + _READY
        while "gateway on" not in (said := api.logs(name, tail=5).decode("utf-8", "replace").strip()):
            if time.monotonic() > deadline or api.inspect_container(name)["RestartCount"] > 2:
                raise BackendError(f"the gateway of {job.name} did not start: {said}")
            time.sleep(0.05)


def mount(job: Job, labels: Mapping[str, str]) -> dict[str, Any]:
    """The volume with its socket, its log and its transcripts."""
    return {**_volume(labels, VOLUME), "Source": names.gateway(job.name)}


def _volume(labels: Mapping[str, str], target: PurePosixPath) -> dict[str, Any]:
    options = {"Labels": {**labels, names.ROLE: "volume"}}
    return {"Type": "volume", "Target": str(target), "VolumeOptions": options}


def _archive(name: str, content: bytes | None = None) -> bytes:
    """A file that only the gateway's user may read, or, without content, a folder that only it may enter."""
    out = io.BytesIO()
    info = tarfile.TarInfo(name)
    info.uid = info.gid = USER
    if content is None:
        info.type, info.mode = tarfile.DIRTYPE, 0o700
    else:
        info.size, info.mode = len(content), 0o400
    with tarfile.open(fileobj=out, mode="w") as tar:
        tar.addfile(info, io.BytesIO(content or b""))
    return out.getvalue()
