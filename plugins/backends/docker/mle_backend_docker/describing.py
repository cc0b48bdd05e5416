"""How an engine isolates containers and enforces their limits, according to the engine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mle_backend_docker.disk import limits_disk
from mle_backend_docker.engine import Engine
from mle_backend_docker.settings import Settings
from mle_backend_docker.system_calls import is_ours
from mlecore.backends import Enforcement, Sandbox


def describe(engine: Engine, settings: Settings) -> Sandbox:
    """See Backend.describe."""
    info, version = engine.info, engine.version
    rootless = engine.security("rootless")
    return Sandbox(
        isolation="container",
        user="not root; in a user namespace" if rootless or engine.security("userns") else "not root",
        time=Enforcement(level="watched", how="init, and a controller that kills what outlasts it"),
        cpus=_cgroup(info, "CpuCfsQuota"),
        memory=_cgroup(info, "MemoryLimit"),
        processes=_cgroup(info, "PidsLimit"),
        disk=Enforcement(level="enforced", how="volumes with a size")
        if limits_disk(engine)
        else Enforcement(level="absent", how="the engine's storage has no quotas"),
        network=Enforcement(level="enforced", how="the engine's networks"),
        network_verified=False,  # the engine's word is taken for it; only our tests try it from inside
        details={
            "engine": "podman" if engine.is_podman else "docker",
            "engine_version": str(version.get("Version")),
            "runtime": str(settings.runtime or info.get("DefaultRuntime")),
            "storage": str(info.get("Driver")),
            "cgroup_version": str(info.get("CgroupVersion")),
            "system_calls": "filtered" if is_ours(engine) else "the engine's profile",
            "security": " ".join(str(option) for option in info.get("SecurityOptions") or ()),
            "rootless": "yes" if rootless else "no",
            "swap": "limited" if info.get("SwapLimit") else "not limited",
        },
    )


def _cgroup(info: Mapping[str, Any], key: str) -> Enforcement:
    if info.get(key) is False:
        return Enforcement(level="absent", how="the engine has no such cgroup controller")
    return Enforcement(level="enforced", how="cgroup")
