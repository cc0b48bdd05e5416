"""Can this engine limit what a container writes? Only trying shows."""

from __future__ import annotations

import contextlib
import threading
from weakref import WeakKeyDictionary

from mle_backend_docker import names
from mle_backend_docker.engine import Engine
from mlecore.errors import BackendError, BackendUnreachable

_lock = threading.Lock()
_known: WeakKeyDictionary[Engine, bool] = WeakKeyDictionary()


def limits_disk(engine: Engine) -> bool:
    """Volumes with a size: the engine's disk must be XFS with project quotas (or the like). Asked once."""
    with _lock:
        if engine not in _known:
            _known[engine] = _ask(engine)
        return _known[engine]


def _ask(engine: Engine) -> bool:
    import docker.errors

    name = "mlecore-quota"  # always the same, so that one who is killed here leaves it for the next to remove
    try:
        with engine.request("asking for a volume with a size"):
            options = {"size": str(64 * 1024 * 1024)}
            engine.api.create_volume(name, driver="local", driver_opts=options, labels={names.ROLE: "look"})
    except BackendUnreachable:
        raise
    except BackendError:
        return False
    with engine.request("removing a volume"), contextlib.suppress(docker.errors.NotFound):
        engine.api.remove_volume(name)
    return not engine.is_podman  # which takes the option and may do nothing about it
