"""What hardware a container had: what the engine's machine has, and what the container was given of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mle_backend_docker import names
from mle_backend_docker.engine import Engine
from mle_backend_docker.gpus import models
from mlecore.backends import Hardware
from mlecore.sandbox.hardware import cpu_model


def hardware(engine: Engine, inspected: Mapping[str, Any]) -> Hardware:
    """Of a container, as the engine describes it."""
    info, given = engine.info, inspected["HostConfig"]
    ids = str((inspected["Config"].get("Labels") or {}).get(names.GPUS) or "")
    memory = int(info.get("MemTotal") or 0)
    return Hardware(
        cpus=given["NanoCpus"] / 1e9 if given.get("NanoCpus") else info.get("NCPU"),
        cpu=cpu_model(),  # the engine is on this machine
        memory=min(filter(None, (int(given.get("Memory") or 0), memory)), default=None),
        gpus=tuple(models().get(id, "unknown") for id in filter(None, ids.split(","))),
        kernel=" ".join(str(info.get(key) or "") for key in ("OSType", "KernelVersion", "Architecture")).strip(),
    )
