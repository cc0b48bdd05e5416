"""Images that were built for agents: what there is, whose it is, and removing it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attrs import frozen

from mle_backend_docker import images, names
from mle_backend_docker.engine import Engine


@frozen(kw_only=True)
class Built:
    """One image that mlecore built. Layers that it shares with other images are not in ``size``."""

    id: str
    tags: tuple[str, ...]
    size: int  # bytes
    created: int  # seconds since 1970
    owner: str  # see images.owner; empty if it was built before there were owners
    used: bool

    @property
    def ours(self) -> bool:
        return self.owner == images.owner()

    @property
    def name(self) -> str:
        return ", ".join(self.tags) or self.id[:19]


def listing(engine: Engine) -> list[Built]:
    """Images that mlecore built at this engine, whoever called it, newest first."""
    with engine.request("listing images"):
        containers = engine.api.containers(all=True)
    used = {each["ImageID"] for each in containers}
    found = [
        Built(
            id=each["Id"],
            tags=tuple(each.get("RepoTags") or ()),
            size=int(each["Size"]) - max(0, int(each.get("SharedSize") or 0)),
            created=int(each["Created"]),
            owner=str(each["Labels"].get(names.OWNER, "")),
            used=each["Id"] in used,
        )
        for each in _usage(engine).get("Images") or ()
        if names.RECIPE in (each.get("Labels") or {})
    ]
    return sorted(found, key=lambda each: -each.created)


def prunable(engine: Engine, *, everyones: bool = False) -> list[Built]:
    """Those that no container uses, of this owner or of everyone."""
    return [each for each in listing(engine) if not each.used and (everyones or each.ours)]


def prune(engine: Engine, chosen: Sequence[Built]) -> tuple[list[Built], int]:
    """Remove these images, and what our own builds left half done; those removed, and the bytes freed.

    An image that a container has begun to use meanwhile stays.
    """
    import docker.errors

    before = int(_usage(engine).get("LayersSize") or 0)
    removed = []
    for each in chosen:
        with engine.request(f"removing the image {each.id[:19]}"):
            try:
                engine.api.remove_image(each.id, force=len(each.tags) > 1)
            except docker.errors.NotFound:
                continue
            except docker.errors.APIError as error:
                if error.status_code == 409:
                    continue
                raise
        removed.append(each)
    with engine.request("removing half-built images"):
        ours = [f"{names.ROLE}=image", f"{names.OWNER}={images.owner()}"]
        engine.api.prune_images(filters={"dangling": True, "label": ours})
    return removed, max(0, before - int(_usage(engine).get("LayersSize") or 0))


def _usage(engine: Engine) -> dict[str, Any]:
    """What images take, by the engine: the whole (``LayersSize``) counts each layer once."""
    with engine.request("asking what images take"):
        found: dict[str, Any] = engine.api.df()
    return found
