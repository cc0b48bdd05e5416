"""Images: built as for Docker, pushed to a registry, named by digest.

The registry is asked first, so that no Docker engine is needed for images that it has.
"""

from __future__ import annotations

import threading
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, TYPE_CHECKING

from attrs import evolve

from mle_backend_kubernetes.registry import registry_image
from mle_backend_kubernetes.settings import Settings
from mlecore.errors import BackendError
from mlecore.model.agents import Recipe
from mlecore.model.backends import Image
from mlecore.model.model_access import recipe as gateway_recipe

if TYPE_CHECKING:
    from mlecore_sandboxes.containers.images import Context
    from mlecore_sandboxes.containers.settings import ImageSettings

NO_REGISTRY = "Name one that the cluster pulls from, -B registry=HOST, or a finished image, -B image=REF."


class Images:
    """Images for one backend; each is looked up once. Thread-safe."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._known: dict[str, Image] = {}
        self._lock = threading.Lock()

    def build(self, recipe: Recipe, log: Path) -> Image:
        """See Backend.build."""
        from mlecore_sandboxes.containers.images import context

        settings = self._settings
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("a+", encoding="utf-8") as out:
            if finished := settings.image or recipe.image:
                return _finished(finished, out)
            if settings.registry is not None:
                return self._pushed(context(recipe, self._docker()), recipe.base or settings.base, out)
        if recipe != Recipe(base=recipe.base):
            raise BackendError("the agent needs packages in its image, and there is no registry", fix=NO_REGISTRY)
        base = recipe.base or settings.base
        return Image(ref=base, digest=base)

    def helper(self) -> str:
        """For the pods beside an agent: Python, and nothing else."""
        from mlecore_sandboxes.containers.images import relay_context

        settings = self._settings
        if settings.helper or settings.registry is None:
            return settings.helper or settings.base
        return self._once("helper", relay_context(self._docker())).ref

    def gateway(self) -> str:
        """For the gateway of a run that has a model."""
        from mlecore_sandboxes.containers.images import context

        settings = self._settings
        if settings.registry is None:
            if settings.helper is None:
                raise BackendError("the gateway needs an image, and there is no registry", fix=NO_REGISTRY)
            return settings.helper
        return self._once("gateway", context(gateway_recipe(), self._docker())).ref

    def built_here(self, ref: str) -> bool:
        """Was it built for agents that write in home and /tmp only? Other images keep a writable root."""
        settings = self._settings
        if settings.image is not None:
            return False
        return ref == settings.base or (settings.registry is not None and ref.startswith(f"{settings.registry}/"))

    def _once(self, key: str, wanted: Context) -> Image:
        with self._lock:
            if key not in self._known:
                with TemporaryDirectory() as folder, (Path(folder) / "log").open("w+", encoding="utf-8") as out:
                    self._known[key] = self._pushed(wanted, self._settings.base, out)
            return self._known[key]

    def _pushed(self, wanted: Context, base: str, out: IO[str]) -> Image:
        from mlecore_sandboxes.containers.engine import Engine
        from mlecore_sandboxes.containers.images import build_context, push, target

        assert self._settings.registry is not None
        name = target(self._settings.registry, wanted.tag)
        if found := registry_image(name):
            out.write(f"{name} is in the registry\n")
            return found
        engine = Engine()
        try:
            engine.info  # noqa: B018
        except BackendError as error:
            raise BackendError(
                f"{name} is not in the registry, and there is no Docker engine here to build it: {error.message}",
                fix=f"On a machine with Docker: mlecore images push --registry {self._settings.registry}",
            ) from error
        built = build_context(engine, self._docker(), wanted, base, out)
        ref = push(engine, wanted.tag, self._settings.registry, out)
        return Image(ref=ref, digest=ref.partition("@")[2], installed=built.installed)

    def _docker(self) -> ImageSettings:
        from mlecore_sandboxes.containers.settings import ImageSettings

        return ImageSettings(base=self._settings.base, ca_bundle=self._settings.ca_bundle)


def _finished(ref: str, out: IO[str]) -> Image:
    """An existing image; by digest if its registry can be reached from here."""
    repository, at, digest = ref.partition("@")
    if at:
        return Image(ref=ref, digest=digest)
    if "/" in repository and ("." in repository.split("/")[0] or ":" in repository.split("/")[0]):
        try:
            found = registry_image(ref if ":" in ref.rpartition("/")[2] else f"{ref}:latest")
        except BackendError as error:  # perhaps only the cluster can reach it
            out.write(f"{error.message}\n")
        else:
            if found is None:
                raise BackendError(f"there is no image {ref} in its registry", fix="Check its name, or push it.")
            return evolve(found, installed=())  # its label may be that of an image that it was built from
    out.write(f"{ref} is used by name: no digest is available from its registry\n")
    return Image(ref=ref, digest=ref)
