"""What a run can reach: nothing, its relay, or everything; each run in its own network, separate from other runs.

``none`` is a container without any interface but loopback. ``open`` is its own bridge: the internet, and what
this machine offers on its addresses, but no other run. ``llm`` is an internal bridge on which this machine has no
address, with the relay's container as the only neighbour; the relay has a second leg to the outside and lets through
what the job's list names. It is ``mlecore_jobs/relay.py``, given to the base image's Python as its program. For a
job with a model it also forwards to the gateway, which is in its own container.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import frozen

from mle_backend_docker import gateway
from mle_backend_docker.container import hardened, log_config
from mlecore.errors import BackendError
from mlecore.model.backends import GATEWAY_PORT, Job
from mlecore_jobs import relay
from mlecore_sandboxes.containers import RELAY_PORT, names, proxy_url
from mlecore_sandboxes.containers.engine import Engine

PODMAN = "Podman leaves this machine's own address reachable from an internal network, so network llm would not hold"
PODMAN_FIX = "Use a Docker engine for runs with a relay, or network none or open."
LOG_BYTES = 64 * 1024 * 1024  # more than the relay ever writes
HOST_GATEWAY = "host.docker.internal"


@frozen(kw_only=True)
class Attachment:
    """How a container is attached to its network."""

    mode: str  # HostConfig.NetworkMode
    proxy: str | None = None
    gateway: str | None = None
    hosts: tuple[str, ...] = ()  # lines for its hosts file, "name:address"


def provide(engine: Engine, job: Job, relay_image: str, labels: Mapping[str, str], selinux: bool) -> Attachment:
    """Make what the job's network needs; idempotent by its name."""
    if job.resources.network == "none":
        return Attachment(mode="none")
    if job.resources.network == "llm" and engine.is_podman:
        raise BackendError(PODMAN, fix=PODMAN_FIX)
    network = _network(engine, job, labels)
    if job.resources.network == "open":
        return Attachment(mode=job.name)
    address = _relay(engine, job, network, relay_image, labels, selinux)
    return Attachment(
        mode=job.name,
        proxy=proxy_url(address),
        gateway=f"http://gateway:{GATEWAY_PORT}" if job.resources.model else None,
        hosts=(f"relay:{address}", f"gateway:{address}"),
    )


def _network(engine: Engine, job: Job, labels: Mapping[str, str]) -> str:
    """The id of the job's network."""
    import docker.errors

    internal = job.resources.network == "llm"
    # Docker's names for a bridge on which this machine has no address: the first since 18.09, the second since 27.
    options = {"com.docker.network.bridge.inhibit_ipv4": "true"} if internal else {}
    if internal and _at_least(engine, 27, 1):
        options = {"com.docker.network.bridge.gateway_mode_ipv4": "isolated"}
    with engine.request(f"making the network of {job.name}"):
        for found in engine.api.networks(names=[job.name]):
            if found["Name"] == job.name:
                return str(found["Id"])
        try:
            created = engine.api.create_network(
                job.name,
                driver="bridge",
                options=options,
                internal=internal,
                check_duplicate=True,
                labels={**labels, names.ROLE: "network"},
            )
        except docker.errors.APIError as error:
            if error.status_code != 409:
                raise
            created = engine.api.inspect_network(job.name)  # another controller was first
        return str(created["Id"])


def _at_least(engine: Engine, *wanted: int) -> bool:
    parts = str(engine.version.get("Version", "")).split(".")
    numbers = tuple(int(part) for part in parts[: len(wanted)] if part.isdigit())
    return len(numbers) == len(wanted) and numbers >= wanted


def relay_program() -> str:
    """The relay as text, for ``python3 -c``."""
    return Path(relay.__file__).read_text(encoding="utf-8")


def _relay(engine: Engine, job: Job, network: str, image: str, labels: Mapping[str, str], selinux: bool) -> str:
    """Start the relay beside the job; its address on the job's network."""
    import docker.errors

    name = names.relay(job.name)
    argv = ["python3", "-I", "-S", "-c", relay_program(), "--listen", f"0.0.0.0:{RELAY_PORT}"]
    for pattern in job.resources.allow:
        argv += ["--allow", pattern]
    if job.resources.model is not None:
        argv += ["--forward", f"0.0.0.0:{GATEWAY_PORT}={gateway.SOCKET}"]
    host: dict[str, Any] = {
        **hardened(selinux),
        "NetworkMode": "bridge",
        "ReadonlyRootfs": True,
        "PidsLimit": 128,
        "Memory": 256 * 1024 * 1024,
        "LogConfig": log_config(engine.is_podman, LOG_BYTES, 1),
        "Mounts": [gateway.mount(job, labels)] if job.resources.model else [],
    }
    if any(pattern.partition(":")[0].lower() == HOST_GATEWAY for pattern in job.resources.allow):
        host["ExtraHosts"] = [f"{HOST_GATEWAY}:host-gateway"]
    config = {
        "Image": image,
        "Entrypoint": argv[:1],
        "Cmd": argv[1:],
        "User": "65534:65534",
        "Labels": {**labels, names.ROLE: "relay"},
        "HostConfig": host,
    }
    with engine.request(f"starting the relay of {job.name}"):
        api = engine.api
        try:
            engine.create(config, name)
        except docker.errors.ImageNotFound:
            raise BackendError(f"the relay's image {image} is missing", fix=f"docker pull {image}") from None
        attached = api.inspect_container(name)["NetworkSettings"]["Networks"]
        if job.name not in attached:
            try:
                api.connect_container_to_network(name, network)
            except docker.errors.APIError:  # another controller was first
                if job.name not in api.inspect_container(name)["NetworkSettings"]["Networks"]:
                    raise
        api.start(name)
        deadline = time.monotonic() + 20
        while True:
            state = api.inspect_container(name)
            said = api.logs(name, stdout=False, tail=5).decode("utf-8", "replace").strip()
            if not state["State"]["Running"] or time.monotonic() > deadline:
                raise BackendError(f"the relay of {job.name} did not start: {said or state['State'].get('Error')}")
            if "relay on" in said:
                return str(state["NetworkSettings"]["Networks"][job.name]["IPAddress"])
            time.sleep(0.02)
