"""The backend's options, and what they amount to."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from attrs import frozen

from mle_backend_docker.containers import read_labels, read_user
from mlecore.errors import UsageError
from mlecore.model.options import setting, words

BASE = "python:3.11-slim-bookworm"


def existing_file(text: str) -> Path:
    """Raises UsageError if there is no such file."""
    path = Path(text).expanduser()
    if not path.is_file():
        raise UsageError("is not a file")
    return path


def read_gpus(text: str) -> int | tuple[str, ...]:
    """A number of GPUs, or their ids. Raises UsageError."""
    if text.isdigit():
        return int(text)
    ids = words(text)
    if not ids or ("," not in text and not text.startswith(("GPU-", "MIG-"))):
        raise UsageError("expected how many (1) or which (0,1 or 0, for one)")
    return ids


@frozen(kw_only=True)
class Settings:
    """Each field is an option."""

    base: str = setting(
        "base image of images built for agents: one for GPUs, from a mirror, or with your CA certificates", default=BASE
    )
    pull: Literal["missing", "always", "never"] = setting(
        "when to ask the registry for an image", default="missing", choices=("missing", "always", "never")
    )
    ca_bundle: Path | None = setting("file of additional CA certificates (PEM) that built images trust", existing_file)
    gpus: int | tuple[str, ...] | None = setting(
        "GPUs per run: how many (1), or which of this machine (0,1, or 0, for one)", read_gpus
    )
    runtime: str | None = setting("container runtime of the engine, such as runsc or kata")
    user: tuple[int, int] | None = setting(
        "UID or UID:GID of the agent; default: the image's own user, nonroot, or 1000", read_user
    )
    labels: Mapping[str, str] = setting(
        "additional labels for containers, volumes and networks: name=value,name=value", read_labels, default=""
    )
