"""Asking a registry what it has, so that no Docker engine is needed for images that are there already."""

from __future__ import annotations

import base64
import json
import re
from urllib.parse import urlencode

from mlecore.errors import BackendError, BackendUnreachable

SECONDS = 20.0
_KINDS = (
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
    "application/vnd.oci.image.manifest.v1+json",
    "application/vnd.docker.distribution.manifest.v2+json",
)


def digest(ref: str) -> str | None:
    """The digest of ``HOST/NAME:TAG``; None: the registry has no such image. With the login of `docker login`.

    Raises BackendUnreachable, and BackendError where it is refused.
    """
    import urllib3

    host, _, rest = ref.partition("/")
    name, _, tag = rest.rpartition(":")
    secure = host.rpartition(":")[0] not in ("localhost", "127.0.0.1", "[::1]")
    url = f"{'https' if secure else 'http'}://{host}/v2/{name}/manifests/{tag}"
    headers = {"accept": ", ".join(_KINDS)}
    try:
        with urllib3.PoolManager(timeout=SECONDS, retries=False) as pool:
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
            f"the registry {host} refuses to say whether it has {name}:{tag} ({answer.status})",
            fix=f"docker login {host}",
        )
    return answer.headers.get("docker-content-digest")


def _login(pool: object, host: str, challenge: str) -> str:
    """What to send for a challenge of the registry: Basic, or a token of the server that it names."""
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
        raise BackendError(f"the registry {host} gives us no token", fix=f"docker login {host}") from None


def _stored(host: str) -> str:
    """The stored login as a Basic header; empty: there is none."""
    from docker.auth import load_config

    found = load_config().resolve_authconfig(host) or {}
    if not found.get("username"):
        return ""
    text = f"{found.get('username') or found.get('Username')}:{found.get('password') or found.get('Password')}"
    return "Basic " + base64.b64encode(text.encode()).decode()
