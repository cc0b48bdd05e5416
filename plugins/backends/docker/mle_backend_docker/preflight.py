"""What prevents running here, each problem with its fix."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mle_backend_docker import gateway
from mle_backend_docker.gpus import Gpus
from mle_backend_docker.network import PODMAN, PODMAN_FIX
from mle_backend_docker.settings import Settings
from mlecore.errors import BackendError
from mlecore.model.backends import Problem, Resources
from mlecore_sandboxes.containers.engine import Engine
from mlecore_sandboxes.preflight import beyond


def problems(engine: Engine, settings: Settings, gpus: Gpus, requested: Sequence[Resources]) -> list[Problem]:
    """See Backend.preflight."""
    if not engine.is_local:
        what = f"the Docker engine at {engine.host} is on another machine, and data are mounted from this one"
        return [Problem(description=what, fix="Use an engine on this machine, or run mlecore where the engine is.")]
    try:
        engine.info, engine.version  # noqa: B018
    except BackendError as error:
        return [Problem(description=error.message, fix=error.fix or "")]
    return [
        *_engine(engine, settings),
        *gpus.problems(requested),
        *_limits(engine, requested),
        *_network(engine, requested),
        *_gateway(engine, settings, requested),
    ]


def _engine(engine: Engine, settings: Settings) -> Iterator[Problem]:
    info = engine.info
    if info.get("OSType", "linux") != "linux":
        yield Problem(description="the engine runs Windows containers", fix="Switch it to Linux containers.")
    known = info.get("Runtimes") or {}
    if settings.runtime and known and settings.runtime not in known:
        yield Problem(
            description=f"the engine has no runtime {settings.runtime!r}; available: {', '.join(sorted(known))}",
            fix="Name one of those, or add it to the engine's daemon.json.",
        )
    if engine.security("rootless") and str(info.get("CgroupVersion")) == "1":
        yield Problem(
            description="a rootless engine on cgroup v1 enforces no limits of memory, CPUs or processes",
            fix="Boot with systemd.unified_cgroup_hierarchy=1, or use a rootful engine.",
        )


def _limits(engine: Engine, requested: Sequence[Resources]) -> Iterator[Problem]:
    info = engine.info
    checks = (
        (any(resources.memory for resources in requested), "MemoryLimit", "memory"),
        (any(resources.cpus for resources in requested), "CpuCfsQuota", "CPUs"),
        (bool(requested), "PidsLimit", "processes"),
    )
    for wanted, key, word in checks:
        if wanted and info.get(key) is False:
            yield Problem(
                description=f"the engine cannot limit {word} (no such cgroup controller)",
                fix="Enable the controller in the kernel, or delegate it to the rootless engine.",
            )
    if any(resources.memory for resources in requested) and info.get("MemoryLimit") and info.get("SwapLimit") is False:
        yield Problem(
            description="the engine cannot prevent runs from swapping",
            fix="Boot with swapaccount=1, or turn swap off.",
            fatal=False,
        )
    yield from beyond(requested, info.get("NCPU") or 0, info.get("MemTotal") or 0, "the engine")
    if any(resources.disk for resources in requested) and not engine.limits_disk:
        yield Problem(
            description=f"the engine's storage ({info.get('Driver')}) cannot limit what a run writes to disk",
            fix="Put the engine's data on XFS mounted with pquota, or watch its disk.",
            fatal=False,
        )


def _network(engine: Engine, requested: Sequence[Resources]) -> Iterator[Problem]:
    from mlecore_jobs.relay import Pattern, as_address

    if engine.is_podman and any(resources.network == "llm" for resources in requested):
        yield Problem(description=PODMAN, fix=PODMAN_FIX)

    for resources in requested:
        if resources.network != "llm":
            continue
        if not resources.allow and resources.model is None:
            yield Problem(description="network llm, but neither a model nor an allowed host", fix="--endpoint URL")
        for text in resources.allow:
            pattern = Pattern(text)  # a valid one, by the checks of plans
            address = as_address(pattern.host)
            if pattern.host == "localhost" or (address is not None and address.is_loopback):
                port = f":{pattern.ports[0]}" if len(pattern.ports) == 1 else ""
                yield Problem(
                    description=f"{text} is this machine's own loopback address, which no container reaches",
                    fix=f"Have the model listen on all addresses; its endpoint is then http://host.docker.internal{port}.",
                )


def _gateway(engine: Engine, settings: Settings, requested: Sequence[Resources]) -> Iterator[Problem]:
    """Its image is built before anything starts."""
    if any(resources.model for resources in requested):
        try:
            gateway.image(engine, settings)
        except BackendError as error:
            yield Problem(description=f"the gateway's image cannot be built: {error.message}", fix=error.fix or "")
