"""The container of a sample, as Docker Compose describes it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from inspect_ai.util import ComposeConfig, ComposeService, ComposeVolumeMount

if TYPE_CHECKING:
    from mle_ext_inspect.setting import Setting

IMAGE = "python:3.11-slim-bookworm"
PROCESSES = 4096  # as mlecore's own backends


def container(public: Path, setting: Setting) -> ComposeConfig:
    """With the public data at /home/data, unless they are to be copied; nothing else of this machine is in it."""
    service: dict[str, Any] = {
        "image": setting.image,
        "entrypoint": ["tail", "-f", "/dev/null"],
        "init": True,
        "working_dir": "/home",
        "security_opt": ["no-new-privileges:true"],
    }
    if setting.network == "none":
        service["network_mode"] = "none"
    if setting.cpus:
        service["cpus"] = setting.cpus
    if setting.memory:
        service["mem_limit"] = f"{setting.memory}b"
    if setting.gpus:
        devices = [{"driver": "nvidia", "count": setting.gpus, "capabilities": ["gpu"]}]
        service["deploy"] = {"resources": {"reservations": {"devices": devices}}}
    if setting.delivery == "mount":  # Docker, since other sandboxes' readings of Compose files reject what they lack
        service["pids_limit"] = PROCESSES
        source = str(public.resolve()).replace("$", "$$")  # Compose fills in variables
        service["volumes"] = [ComposeVolumeMount(type="bind", source=source, target="/home/data", read_only=True)]
    return ComposeConfig(services={"default": ComposeService(**service)})
