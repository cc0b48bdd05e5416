"""Images that were built for agents: what there is, whose it is, and removing it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mle_backend_docker import images, names
from mle_backend_docker.engine import Engine
from mlecore.backends import CachedImage
from mlecore.errors import BackendError


def listing(engine: Engine) -> list[CachedImage]:
    """Images that mlecore built at this engine, under any name, newest first."""
    with engine.request("listing images"):
        containers = engine.api.containers(all=True)
    used = {each["ImageID"] for each in containers}
    found = [
        CachedImage(
            ref=each["Id"],
            name=", ".join(each.get("RepoTags") or ()) or each["Id"][:19],
            size=int(each["Size"]) - max(0, int(each.get("SharedSize") or 0)),  # layers
            created=float(each["Created"]),
            owner=str(each["Labels"].get(names.OWNER, "")),
            ours=each["Labels"].get(names.OWNER) == images.owner(),
            used=each["Id"] in used,
        )
        for each in _usage(engine).get("Images") or ()
        if names.RECIPE in (each.get("Labels") or {})
    ]
    return sorted(found, key=lambda each: -each.created)


def prune(engine: Engine, chosen: Sequence[CachedImage]) -> tuple[list[CachedImage], int]:
    """See ``Backend.prune``."""
    import docker.errors

    before = int(_usage(engine).get("LayersSize") or 0)
    removed = []
    for each in chosen:
        with engine.request(f"removing the image {each.name}"):
            try:
                engine.api.remove_image(each.ref, force="," in each.name)
            except docker.errors.NotFound:
                continue
            except docker.errors.APIError as error:
                if error.status_code == 409:  # a container has begun to use it meanwhile
                    continue
                raise
        removed.append(each)
    with engine.request("removing half-built images"):
        ours = [f"{names.ROLE}=image", f"{names.OWNER}={images.owner()}"]
        engine.api.prune_images(filters={"dangling": True, "label": ours})
    return removed, max(0, before - int(_usage(engine).get("LayersSize") or 0))


def tag_of(engine: Engine, image: CachedImage) -> str:
    """The name under which we built an image. Raises BackendError if it has lost it."""
    with engine.request(f"looking at the image {image.name}"):
        tags = engine.api.inspect_image(image.ref).get("RepoTags") or ()
    for tag in tags:
        if tag.startswith(f"{names.REPOSITORY}:"):
            return str(tag)
    raise BackendError(f"{image.name} has no name that mlecore gave it", fix="Build it again: mlecore images build")


def _usage(engine: Engine) -> dict[str, Any]:
    """What images take, by the engine: the whole (``LayersSize``) counts each layer once."""
    with engine.request("asking what images take"):
        found: dict[str, Any] = engine.api.df()
    return found
