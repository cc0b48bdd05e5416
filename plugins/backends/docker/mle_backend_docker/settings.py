"""The backend's options, as values."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal, cast

from attrs import define, field

from mlecore.errors import UsageError
from mlecore.options import Option, pairs

Pull = Literal["missing", "always", "never"]

BASE = "python:3.11-slim-bookworm"

OPTIONS = (
    Option(
        name="base",
        help="base image of images built for agents: one for GPUs, from a mirror, or with your CA certificates",
        default=BASE,
    ),
    Option(
        name="pull",
        help="when to ask the registry for an image",
        default="missing",
        choices=("missing", "always", "never"),
    ),
    Option(name="ca_bundle", help="file of additional CA certificates (PEM) that built images trust"),
    Option(name="gpus", help="GPUs per run: how many (1), or which of this machine (0,1, or 0, for one)"),
    Option(name="runtime", help="container runtime of the engine, such as runsc or kata"),
    Option(name="user", help="UID or UID:GID of the agent; default: the image's own user, nonroot, or 1000"),
    Option(name="labels", help="additional labels for containers, volumes and networks: name=value,name=value"),
)


@define(kw_only=True)
class Settings:
    """The options' values."""

    base: str = BASE
    pull: Pull = "missing"
    ca_bundle: Path | None = None
    gpus: int | tuple[str, ...] | None = None  # how many, or which
    runtime: str | None = None
    user: tuple[int, int] | None = None
    labels: Mapping[str, str] = field(factory=dict)

    @classmethod
    def of(cls, options: Mapping[str, str]) -> Settings:
        """Raises UsageError for a value that cannot be."""
        bundle = Path(options["ca_bundle"]).expanduser() if options.get("ca_bundle") else None
        if bundle is not None and not bundle.is_file():
            raise UsageError(f"backend docker: ca_bundle={bundle} is not a file")
        return cls(
            base=options.get("base") or BASE,
            pull=cast(Pull, options.get("pull") or "missing"),
            ca_bundle=bundle,
            gpus=parse_gpus(options["gpus"]) if options.get("gpus") else None,
            runtime=options.get("runtime") or None,
            user=parse_user(options["user"]) if options.get("user") else None,
            labels=pairs((item for item in options.get("labels", "").split(",") if item), "-B labels="),
        )


def parse_user(text: str) -> tuple[int, int]:
    """``UID`` or ``UID:GID`` of the option user, taken apart. Raises UsageError."""
    uid, _, gid = text.partition(":")
    if not uid.isdigit() or not (gid or "0").isdigit() or int(uid) == 0:
        raise UsageError(f"backend docker: user={text}: expected UID or UID:GID, and not root's 0")
    return int(uid), int(gid or uid)


def parse_gpus(text: str) -> int | tuple[str, ...]:
    """The option gpus: a number of GPUs, or their ids. Raises UsageError."""
    if text.isdigit():
        return int(text)
    ids = tuple(part.strip() for part in text.split(",") if part.strip())
    if not ids or ("," not in text and not text.startswith(("GPU-", "MIG-"))):
        raise UsageError(f"backend docker: gpus={text}: expected how many (1) or which (0,1 or 0, for one)")
    return ids
