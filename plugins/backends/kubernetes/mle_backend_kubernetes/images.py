"""Images: built as for Docker, pushed to a registry, named by digest. Images that exist already need no engine here."""

from __future__ import annotations

import threading
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, TYPE_CHECKING

from mle_backend_kubernetes import registry
from mle_backend_kubernetes.settings import Settings
from mlecore.agents import Recipe
from mlecore.backends import Image
from mlecore.errors import BackendError
from mlecore.model_access import recipe as gateway_recipe

if TYPE_CHECKING:
    from mle_backend_docker.images import Context
    from mle_backend_docker.settings import Settings as DockerSettings

NO_REGISTRY = "Name one that the cluster pulls from: -B registry=HOST. Or a finished image: -B image=REF."


class Images:
    """Images for one backend; each is looked for once. Thread-safe."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._known: dict[str, Image] = {}
        self._lock = threading.Lock()

    def build(self, recipe: Recipe, log: Path) -> Image:
        """See Backend.build."""
        from mle_backend_docker.images import context

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
        from mle_backend_docker.images import relay_context

        settings = self._settings
        if settings.helper or settings.registry is None:
            return settings.helper or settings.base
        return self._once("helper", relay_context(self._docker())).ref

    def gateway(self) -> str:
        """For the gateway of a run that has a model."""
        from mle_backend_docker.images import context

        settings = self._settings
        if settings.registry is None:
            if settings.helper is None:
                raise BackendError("the gateway needs an image, and there is no registry", fix=NO_REGISTRY)
            return settings.helper
        return self._once("gateway", context(gateway_recipe(), self._docker())).ref

    def built_here(self, ref: str) -> bool:
        """Was it made for agents of ours, which write in home and /tmp only? Others run as they were meant to."""
        settings = self._settings
        if settings.image is not None:
            return False
        return ref == settings.base or (settings.registry is not None and ref.startswith(f"{settings.registry}/"))

    def _once(self, key: str, made: Context) -> Image:
        with self._lock:
            if key not in self._known:
                with TemporaryDirectory() as folder, (Path(folder) / "log").open("w+", encoding="utf-8") as out:
                    self._known[key] = self._pushed(made, self._settings.base, out)
            return self._known[key]

    def _pushed(self, made: Context, base: str, out: IO[str]) -> Image:
        from mle_backend_docker.engine import Engine
        from mle_backend_docker.images import build_context
        from mle_backend_docker.pushing import push, target

        assert self._settings.registry is not None
        name = target(self._settings.registry, made.tag)
        digest = registry.digest(name)
        if digest is not None:
            out.write(f"{name} is there already\n")
            return Image(ref=f"{name.rpartition(':')[0]}@{digest}", digest=digest)
        engine = Engine()
        try:
            engine.info  # noqa: B018
        except BackendError as error:
            raise BackendError(
                f"{name} is not in the registry, and there is no Docker engine here to build it: {error.message}",
                fix=f"Where there is one: mlecore images push --registry {self._settings.registry}",
            ) from error
        build_context(engine, self._docker(), made, base, out)
        ref = push(engine, made.tag, self._settings.registry, out)
        return Image(ref=ref, digest=ref.partition("@")[2])

    def _docker(self) -> DockerSettings:
        from mle_backend_docker.settings import Settings as DockerSettings

        options = {"base": self._settings.base, "ca_bundle": self._settings.ca_bundle or ""}
        return DockerSettings.of(options)


def _finished(ref: str, out: IO[str]) -> Image:
    """An image that somebody made; by digest where its registry can be asked from here."""
    repository, at, digest = ref.partition("@")
    if at:
        return Image(ref=ref, digest=digest)
    if "/" in repository and ("." in repository.split("/")[0] or ":" in repository.split("/")[0]):
        try:
            found = registry.digest(ref if ":" in ref.rpartition("/")[2] else f"{ref}:latest")
        except BackendError as error:  # perhaps only the cluster reaches it
            out.write(f"{error.message}\n")
            found = None
        if found:
            name, colon, _ = repository.rpartition(":")
            return Image(ref=f"{name if colon and '/' not in _ else repository}@{found}", digest=found)
    out.write(f"{ref} is used by its name: its registry cannot be asked for a digest from here\n")
    return Image(ref=ref, digest=ref)
