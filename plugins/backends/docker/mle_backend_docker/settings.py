"""The backend's options, and what they amount to."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import frozen

from mlecore.errors import UsageError
from mlecore.model.options import setting, words
from mlecore_sandboxes.containers import read_labels, read_user
from mlecore_sandboxes.containers.settings import ImageSettings


def read_gpus(text: str) -> int | tuple[str, ...]:
    """A number of GPUs, or their ids. Raises UsageError."""
    if text.isdigit():
        return int(text)
    ids = words(text)
    if not ids or ("," not in text and not text.startswith(("GPU-", "MIG-"))):
        raise UsageError("expected how many (1) or which (0,1 or 0, for one)")
    return ids


@frozen(kw_only=True)
class Settings(ImageSettings):
    """Each field is an option."""

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
