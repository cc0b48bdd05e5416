"""A job's output from the engine, which keeps the end of it when there is very much."""

from __future__ import annotations

import time
from collections.abc import Iterator

from mle_backend_docker import names
from mle_backend_docker.engine import Engine
from mle_backend_docker.watching import status
from mlecore.backends import Handle
from mlecore.errors import BackendError, BackendUnreachable


def logs(engine: Engine, handle: Handle, offset: int, follow: bool) -> Iterator[bytes]:
    """See Backend.logs. An engine that stops answering is waited for, when following."""
    pause = 0.2
    while True:
        try:
            for chunk in _read(engine, handle, offset, follow):
                offset += len(chunk)
                pause = 0.2
                yield chunk
            if not follow or status(engine, [handle])[handle].phase in ("exited", "gone"):
                # What came between the end of the stream and the end of the job.
                yield from _read(engine, handle, offset, follow=False)
                return
        except BackendUnreachable:
            if not follow:
                raise
        time.sleep(pause)
        pause = min(10.0, pause * 2)


def _read(engine: Engine, handle: Handle, offset: int, follow: bool) -> Iterator[bytes]:
    import docker.errors

    client = engine.streaming() if follow else engine.api
    try:
        with engine.asking(f"reading the output of {handle.name}"):
            stream = client.logs(names.container(handle) or handle.name, stream=True, follow=follow)
            for chunk in stream:
                if offset >= len(chunk):
                    offset -= len(chunk)
                else:
                    yield chunk[offset:]
                    offset = 0
    except docker.errors.NotFound:
        if not follow:
            raise BackendError(f"{handle.name} is no longer at this engine, and its output neither") from None
    finally:
        if follow:
            client.close()
