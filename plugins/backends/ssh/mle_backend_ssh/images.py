"""What agents start from: built on each host, which has its own image or environment."""

from __future__ import annotations

import hashlib
import json
import tempfile
import threading
from collections.abc import Collection
from pathlib import Path

from attrs import evolve

from mle_backend_ssh.background import ask_all
from mle_backend_ssh.host import Host
from mlecore.errors import BackendError
from mlecore.model.agents import Recipe
from mlecore.model.backends import Image


class Images:
    """The hosts' images of recipes. ``Image.ref`` is a JSON object: host -> its own ref."""

    def __init__(self) -> None:
        self._recipes: dict[str, Recipe] = {}  # by Image.ref

    def build(self, recipe: Recipe, hosts: Collection[Host], log: Path) -> Image:
        """Raises BackendError if no host can build it."""
        errors: list[BackendError] = []
        writing = threading.Lock()
        log.parent.mkdir(parents=True, exist_ok=True)

        def build(host: Host) -> Image | None:
            with tempfile.TemporaryDirectory() as folder:
                part = Path(folder) / "build.log"
                try:
                    return host.build(recipe, part)
                except BackendError as error:
                    errors.append(error)
                    return None
                finally:
                    with writing, log.open("ab") as out:
                        out.write(f"== {host.name}\n".encode() + (part.read_bytes() if part.exists() else b""))

        images = {host.name: image for host, image in ask_all(hosts, build) if image is not None}
        if not images:
            raise errors[0]
        ref = json.dumps({name: image.ref for name, image in images.items()})
        self._recipes[ref] = recipe
        digests = sorted({image.digest for image in images.values()})
        installed = tuple(dict.fromkeys(line for image in images.values() for line in image.installed))
        digest = digests[0] if len(digests) == 1 else hashlib.sha256(json.dumps(digests).encode()).hexdigest()
        return Image(ref=ref, digest=digest, installed=installed)

    def on(self, host: Host, image: Image, log: Path) -> Image:
        """The image as its host knows it. A host that did not answer when the others built it builds it now."""
        images = json.loads(image.ref)
        if host.name in images:
            return evolve(image, ref=images[host.name])
        recipe = self._recipes.get(image.ref)
        if recipe is None:
            raise BackendError(f"{host.name} has no image for this agent")
        return host.build(recipe, log)
