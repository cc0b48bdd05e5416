"""The output of a container, put together from what the engine sends."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from docker import APIClient

FULL = 16384  # bytes that Docker reads of a line before it cuts it


def chunks(client: APIClient, container: str, follow: bool, podman: bool) -> Iterator[bytes]:
    """All output of a container, as its process wrote it."""
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
