"""The options about the images that are built for agents."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from attrs import frozen

from mlecore.errors import UsageError
from mlecore.model.options import setting

BASE = "python:3.11-slim-bookworm"


def existing_file(text: str) -> Path:
    """Raises UsageError if there is no such file."""
    path = Path(text).expanduser()
    if not path.is_file():
        raise UsageError("is not a file")
    return path


@frozen(kw_only=True)
class ImageSettings:
    """Each field is an option."""

    base: str = setting(
        "base image of images built for agents: one for GPUs, from a mirror, or with your CA certificates", default=BASE
    )
    pull: Literal["missing", "always", "never"] = setting(
        "when to ask the registry for an image", default="missing", choices=("missing", "always", "never")
    )
    ca_bundle: Path | None = setting("file of additional CA certificates (PEM) that built images trust", existing_file)
