"""A job's output from the engine, which keeps the end of it when there is very much."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import IO, TYPE_CHECKING

from mle_backend_docker.engine import Engine
from mle_backend_docker.watching import status
from mlecore.backends import Handle
from mlecore.errors import BackendError, BackendUnreachable

if TYPE_CHECKING:
    from docker import APIClient

FULL = 16384  # bytes that Docker reads of a line before it cuts it


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
        with engine.request(f"reading the output of {handle.name}"):
            for chunk in _chunks(client, handle.name, follow, engine.is_podman):
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


def _chunks(client: APIClient, container: str, follow: bool, podman: bool) -> Iterator[bytes]:
    terminal = client.inspect_container(container)["Config"]["Tty"]
    params = {"stdout": 1, "stderr": 1, "follow": int(follow)}
    address = client._url("/containers/{0}/logs", container)
    answer = client.get(address, params=params, stream=True, timeout=client.timeout)
    try:
        client._raise_for_status(answer)
        if terminal:
            yield from answer.iter_content(None)
        else:
            yield from whole_lines(frames(answer.raw), full=0 if podman else FULL)
    finally:
        answer.close()


def frames(raw: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    """What the engine sends: (1 for standard output or 2 for standard error, bytes); it cuts at line ends."""
    while len(head := raw.read(8)) == 8:
        yield head[0], raw.read(int.from_bytes(head[4:], "big"))


def whole_lines(found: Iterable[tuple[int, bytes]], full: int) -> Iterator[bytes]:
    """Give lines that are longer than a frame their ends back.

    Docker's log driver ``local``, the only one that keeps every byte, loses the end of a line that took more than one
    frame. So a frame that is neither full nor the last of its stream, and has no line end, has lost it. (``full`` is 0
    where frames mean nothing.)
    """
    lost = set()
    for stream, content in found:
        if stream in lost:
            lost.discard(stream)
            yield b"\n"
        if content and not content.endswith(b"\n") and len(content) < full:
            lost.add(stream)
        yield content
