"""Images: built as for Docker, pushed to a registry, named by digest.

The registry is asked first, so that no Docker engine is needed for images that it has.
"""

from __future__ import annotations

import base64
import json
import re
import threading
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, TYPE_CHECKING
from urllib.parse import urlencode

from mle_backend_kubernetes.settings import Settings
from mlecore.agents import Recipe
from mlecore.backends import Image
from mlecore.errors import BackendError, BackendUnreachable
from mlecore.model_access import recipe as gateway_recipe

if TYPE_CHECKING:
    from mle_backend_docker.images import Context
    from mle_backend_docker.settings import Settings as DockerSettings

REGISTRY_TIMEOUT = 20.0  # seconds
_MEDIA_TYPES = (
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
    "application/vnd.oci.image.manifest.v1+json",
    "application/vnd.docker.distribution.manifest.v2+json",
)
NO_REGISTRY = "Name one that the cluster pulls from, -B registry=HOST, or a finished image, -B image=REF."


class Images:
    """Images for one backend; each is looked up once. Thread-safe."""

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
        from mle_backend_docker.engine import Engine
        from mle_backend_docker.images import build_context, push, target

        assert self._settings.registry is not None
        name = target(self._settings.registry, wanted.tag)
        digest = registry_digest(name)
        if digest is not None:
            out.write(f"{name} is in the registry\n")
            return Image(ref=f"{name.rpartition(':')[0]}@{digest}", digest=digest)
        engine = Engine()
        try:
            engine.info  # noqa: B018
        except BackendError as error:
            raise BackendError(
                f"{name} is not in the registry, and there is no Docker engine here to build it: {error.message}",
                fix=f"On a machine with Docker: mlecore images push --registry {self._settings.registry}",
            ) from error
        build_context(engine, self._docker(), wanted, base, out)
        ref = push(engine, wanted.tag, self._settings.registry, out)
        return Image(ref=ref, digest=ref.partition("@")[2])

    def _docker(self) -> DockerSettings:
        from mle_backend_docker.settings import Settings as DockerSettings

        options = {"base": self._settings.base, "ca_bundle": self._settings.ca_bundle or ""}
        return DockerSettings.of(options)


def _finished(ref: str, out: IO[str]) -> Image:
    """An existing image; by digest if its registry can be reached from here."""
    repository, at, digest = ref.partition("@")
    if at:
        return Image(ref=ref, digest=digest)
    if "/" in repository and ("." in repository.split("/")[0] or ":" in repository.split("/")[0]):
        try:
            found = registry_digest(ref if ":" in ref.rpartition("/")[2] else f"{ref}:latest")
        except BackendError as error:  # perhaps only the cluster can reach it
            out.write(f"{error.message}\n")
            found = None
        if found:
            name, colon, _ = repository.rpartition(":")
            return Image(ref=f"{name if colon and '/' not in _ else repository}@{found}", digest=found)
    out.write(f"{ref} is used by name: no digest is available from its registry\n")
    return Image(ref=ref, digest=ref)


def registry_digest(ref: str) -> str | None:
    """The digest of ``HOST/NAME:TAG``; None: the registry has no such image. Uses the login of `docker login`.

    Raises BackendUnreachable, and BackendError if the registry denies access.
    """
    import urllib3

    host, _, rest = ref.partition("/")
    name, _, tag = rest.rpartition(":")
    secure = host.rpartition(":")[0] not in ("localhost", "127.0.0.1", "[::1]")
    url = f"{'https' if secure else 'http'}://{host}/v2/{name}/manifests/{tag}"
    headers = {"accept": ", ".join(_MEDIA_TYPES)}
    try:
        with urllib3.PoolManager(timeout=REGISTRY_TIMEOUT, retries=False) as pool:
            answer = pool.request("HEAD", url, headers=headers)
            if answer.status == 401:
                login = _login(pool, host, answer.headers.get("www-authenticate", ""))
                answer = pool.request("HEAD", url, headers={**headers, "authorization": login})
    except (urllib3.exceptions.HTTPError, OSError) as error:
        raise BackendUnreachable(f"the registry {host} does not answer: {error}", fix="Is it up?") from error
    if answer.status == 404:
        return None
    if answer.status >= 500:
        raise BackendUnreachable(f"the registry {host} answered {answer.status} for {name}:{tag}")
    if answer.status != 200:
        raise BackendError(
            f"the registry {host} denies access to {name}:{tag} ({answer.status})",
            fix=f"docker login {host}",
        )
    return answer.headers.get("docker-content-digest")


def _login(pool: object, host: str, challenge: str) -> str:
    """The authorization header for a registry's challenge: Basic, or a token of the server that it names."""
    import urllib3

    assert isinstance(pool, urllib3.PoolManager)
    basic = _stored(host)
    if not challenge.lower().startswith("bearer"):
        return basic
    fields = dict(re.findall(r'(\w+)="([^"]*)"', challenge))
    query = urlencode({name: fields[name] for name in ("service", "scope") if name in fields})
    headers = {"authorization": basic} if basic else {}
    answer = pool.request("GET", f"{fields.get('realm')}?{query}", headers=headers)
    try:
        found = json.loads(answer.data)
        return f"Bearer {found.get('token') or found['access_token']}"
    except (ValueError, KeyError, TypeError):
        raise BackendError(f"the registry {host} returned no token", fix=f"docker login {host}") from None


def _stored(host: str) -> str:
    """The stored login as a Basic header; empty if there is none."""
    from docker.auth import load_config

    found = load_config().resolve_authconfig(host) or {}
    if not found.get("username"):
        return ""
    text = f"{found.get('username') or found.get('Username')}:{found.get('password') or found.get('Password')}"
    return "Basic " + base64.b64encode(text.encode()).decode()
