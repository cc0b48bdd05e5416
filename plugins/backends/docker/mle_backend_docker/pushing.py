"""Bringing images that were built here to a registry, for machines that run them elsewhere."""

from __future__ import annotations

import hashlib
from typing import IO

from mle_backend_docker.engine import Engine
from mle_backend_docker.locks import locked
from mlecore.errors import BackendError, BackendUnreachable


def target(registry: str, tag: str) -> str:
    """What an image of ours is called in a registry."""
    return f"{registry.rstrip('/')}/{tag}"


def push(engine: Engine, tag: str, registry: str, out: IO[str]) -> str:
    """Push an image of this engine; its reference by digest. The login is that of `docker login`."""
    import docker.errors

    name = target(registry, tag)
    repository, _, version = name.rpartition(":")
    out.write(f"pushing {name}\n")
    digest, problem = "", ""
    client = engine.streaming()
    # One push of a name at a time: the first to end takes the name away.
    with locked(f"push-{hashlib.sha256(name.encode()).hexdigest()[:12]}"):
        try:
            with engine.request(f"pushing {name}"):
                if not engine.api.tag(tag, repository, version, force=True):
                    raise BackendError(f"the engine cannot call {tag} {name}")
                for event in client.push(repository, version, stream=True, decode=True):
                    problem = str(event.get("error") or problem)
                    digest = str((event.get("aux") or {}).get("Digest") or digest)
                    if "status" in event and "progress" not in event:
                        out.write(f"{event.get('id', '')} {event['status']}\n".lstrip())
                engine.api.remove_image(name, noprune=True)  # the name only: what was built keeps its own
        except docker.errors.NotFound as error:
            problem = str(error.explanation or error)
        finally:
            client.close()
    if any(word in problem for word in ("connection refused", "timeout", "no such host", "EOF", "502", "503")):
        raise BackendUnreachable(f"{registry} does not answer: {problem}", fix="Is the registry up?")
    if problem or not digest:
        raise BackendError(
            f"{name} cannot be pushed: {problem or 'the engine gives no digest'}",
            fix=f"May you write there? docker login {registry.partition('/')[0]}",
        )
    return f"{repository}@{digest}"
