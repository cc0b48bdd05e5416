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
        help="base image of what is built for agents: a GPU base, a mirror's, one that trusts your authority",
        default=BASE,
    ),
    Option(
        name="pull",
        help="when to ask the registry for an image",
        default="missing",
        choices=("missing", "always", "never"),
    ),
    Option(name="ca_bundle", help="file of certificates (PEM) that images built here trust besides their own"),
    Option(name="gpus", help="GPUs of each run: how many (1), or which of this machine (0,1 or 0, for one)"),
    Option(name="runtime", help="container runtime of the engine, such as runsc or kata"),
    Option(name="user", help="UID or UID:GID of the agent; default: the image's own user, nonroot, or 1000"),
    Option(name="labels", help="more labels for containers, volumes and networks: name=value,name=value"),
)


@define(kw_only=True)
class Settings:
    """What the options say."""

    base: str = BASE
    pull: Pull = "missing"
    ca_bundle: Path | None = None
    gpus: str | None = None
    runtime: str | None = None
    user: str | None = None
    labels: Mapping[str, str] = field(factory=dict)

    @classmethod
    def of(cls, options: Mapping[str, str]) -> Settings:
        """Raises UsageError for a value that cannot be."""
        from mle_backend_docker.gpus import parse_gpus
        from mle_backend_docker.users import parse_user

        if user := options.get("user"):
            parse_user(user)
        if gpus := options.get("gpus"):
            parse_gpus(gpus)
        bundle = Path(options["ca_bundle"]).expanduser() if options.get("ca_bundle") else None
        if bundle is not None and not bundle.is_file():
            raise UsageError(f"backend docker: ca_bundle={bundle} is not a file")
        return cls(
            base=options.get("base") or BASE,
            pull=cast(Pull, options.get("pull") or "missing"),
            ca_bundle=bundle,
            gpus=options.get("gpus") or None,
            runtime=options.get("runtime") or None,
            user=user or None,
            labels=pairs((item for item in options.get("labels", "").split(",") if item), "-B labels="),
        )
