"""What an image's registry knows of it, with the login of `docker login`."""

from __future__ import annotations

import base64
import json
import re
from typing import Any
from urllib.parse import urlencode

from mlecore.errors import BackendError, BackendUnreachable
from mlecore.model.backends import Image
from mlecore_sandboxes.containers.installed import from_labels

REGISTRY_TIMEOUT = 20.0  # seconds
_LARGEST = 4 << 20  # bytes of a manifest, or of an image's configuration
_MEDIA_TYPES = (
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
    "application/vnd.oci.image.manifest.v1+json",
    "application/vnd.docker.distribution.manifest.v2+json",
)


def registry_image(ref: str) -> Image | None:
    """``HOST/NAME:TAG`` by its digest, with the list of what is installed in its label. None: no such image.

    Raises BackendUnreachable, and BackendError if the registry denies access.
    """
    import urllib3

    host, _, rest = ref.partition("/")
    name, _, tag = rest.rpartition(":")
    secure = host.rpartition(":")[0] not in ("localhost", "127.0.0.1", "[::1]")
    base = f"{'https' if secure else 'http'}://{host}/v2/{name}"
    headers = {"accept": ", ".join(_MEDIA_TYPES)}
    try:
        with urllib3.PoolManager(timeout=REGISTRY_TIMEOUT, retries=False) as pool:
            answer = _get(pool, f"{base}/manifests/{tag}", headers)
            if answer.status == 401:
                headers["authorization"] = _login(pool, host, answer.headers.get("www-authenticate", ""))
                answer = _get(pool, f"{base}/manifests/{tag}", headers)
            digest = answer.headers.get("docker-content-digest")
            if answer.status == 200 and digest:
                config = _json(answer).get("config")
                blob = config.get("digest") if isinstance(config, dict) else None  # an index has none
                labels = _labels(pool, f"{base}/blobs/{blob}", headers) if blob else None
                return Image(ref=f"{host}/{name}@{digest}", digest=digest, installed=from_labels(labels))
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
    return Image(ref=ref, digest=ref)  # without a digest it cannot be pinned


def _get(pool: Any, url: str, headers: dict[str, str], redirects: int = 0) -> Any:
    """urllib3 sends the login to no other host."""
    from urllib3 import Retry

    retries = Retry(total=redirects, redirect=redirects, connect=0, read=0, raise_on_redirect=False)
    return pool.request("GET", url, headers=headers, retries=retries, preload_content=False)


def _json(answer: Any) -> dict[str, Any]:
    """The answer of a registry, which may send anything."""
    try:
        found = json.loads(answer.read(_LARGEST))
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _labels(pool: Any, url: str, headers: dict[str, str]) -> object:
    """They only inform, and storage of blobs is often elsewhere: perhaps only the cluster can reach it."""
    from urllib3.exceptions import HTTPError

    try:
        answer = _get(pool, url, headers, redirects=3)
        config = _json(answer).get("config") if answer.status == 200 else None
    except (HTTPError, OSError):
        return None
    return config.get("Labels") if isinstance(config, dict) else None


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
