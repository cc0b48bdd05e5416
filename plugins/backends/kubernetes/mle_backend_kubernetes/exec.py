"""Running a program in a container, with a binary stream each way. Short-lived: it can always be started again.

The kubernetes package's WSClient reads all that has arrived into memory; here a reader sets the pace.
"""

from __future__ import annotations

import io
import json
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import urlencode

from mle_backend_kubernetes.cluster import Cluster, NotFound
from mlecore.errors import BackendError

if TYPE_CHECKING:
    from websocket import WebSocket

IDLE = 120.0  # seconds without a byte after which a stream counts as broken
CHUNK = 256 * 1024
_LINE = 1 << 26  # bytes of a message; one lists all files of a competition
KILLED = 128  # exit codes above it mean a signal: the pod went while the program ran, so it can be started again
_STDIN, _STDOUT, _STDERR, _STATUS = b"\x00", 1, 2, 3


class Broken(ConnectionError):
    """The stream ended before the program did."""


class Stream(io.RawIOBase):
    """Standard output of the program to read, its standard input to write."""

    def __init__(self, socket: WebSocket) -> None:
        self._socket = socket
        self._pending = b""
        self._stderr = b""  # the last 2,000 bytes of its standard error
        self._ended = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        """Raises Broken, and BackendError where the program failed."""
        while not self._pending and not self._ended:
            self._next()
        count = min(len(buffer), len(self._pending))
        buffer[:count] = self._pending[:count]
        self._pending = self._pending[count:]
        return count

    def send(self, content: bytes | bytearray | memoryview) -> None:
        """Write to the program's standard input. Raises Broken."""
        import websocket

        for start in range(0, len(content), CHUNK):
            try:
                self._socket.send_binary(_STDIN + bytes(content[start : start + CHUNK]))
            except (OSError, websocket.WebSocketException) as error:
                raise Broken(str(error)) from error

    def _next(self) -> None:
        import websocket

        try:
            _, data = self._socket.recv_data()
        except (OSError, websocket.WebSocketException) as error:
            raise Broken(str(error) or type(error).__name__) from error
        if not data:
            raise Broken("the connection was closed")
        if isinstance(data, str):
            data = data.encode()
        channel, content = data[0], data[1:]
        if channel == _STDOUT:
            self._pending = content
        elif channel == _STDERR:
            self._stderr = (self._stderr + content)[-2000:]
        elif channel == _STATUS:
            self._end(content)

    def _end(self, content: bytes) -> None:
        self._ended = True
        try:
            status = json.loads(content)
        except ValueError:
            raise Broken("its status is malformed") from None
        if status.get("status") != "Success":
            said = self._stderr.decode("utf-8", "replace").strip() or str(status.get("message"))
            if status.get("reason") == "NonZeroExitCode" and _exit_code(status) <= KILLED:
                raise BackendError(f"mlecore's helper failed in its pod: {said[-1000:]}")
            raise Broken(said)


def _exit_code(status: dict[str, Any]) -> int:
    causes = (status.get("details") or {}).get("causes") or []
    return next((int(cause["message"]) for cause in causes if cause.get("reason") == "ExitCode"), 0)


@contextmanager
def execute(cluster: Cluster, pod: str, container: str, command: Sequence[str]) -> Iterator[Stream]:
    """Run a program in a container. Raises NotFound if there is no such pod, and Broken."""
    import websocket
    from kubernetes.stream.ws_client import create_websocket

    query = [("command", word) for word in command]
    query += [("container", container), *((name, "true") for name in ("stdin", "stdout", "stderr"))]
    scheme, _, rest = cluster.configuration.host.partition("://")
    address = f"{'wss' if scheme == 'https' else 'ws'}://{rest}{cluster.path('pods', pod, 'exec')}?{urlencode(query)}"
    headers = {**cluster.headers(), "sec-websocket-protocol": "v4.channel.k8s.io"}
    try:
        socket = create_websocket(cluster.configuration, address, headers)
    except websocket.WebSocketBadStatusException as error:
        if error.status_code == 404:
            raise NotFound(f"no pod {pod}") from None
        if error.status_code == 403:
            raise BackendError(
                f"no permission to run a program in {pod}",
                fix="Grant create and get on pods/exec, as in the Role of docs/kubernetes.md.",
            ) from None
        raise Broken(str(error)) from error
    except (OSError, websocket.WebSocketException) as error:
        raise Broken(str(error)) from error
    try:
        socket.settimeout(IDLE)
        yield Stream(socket)
    finally:
        socket.close(timeout=1)


def message(source: IO[bytes]) -> dict[str, Any]:
    """The next message of our program that is no heartbeat. Raises Broken."""
    found: dict[str, Any] = {}
    while not found:
        line = source.readline(_LINE)
        try:
            found = json.loads(line)
        except ValueError:
            raise Broken(f"{line[:100]!r} is not a message") from None
    return found


def blocks(stream: Stream) -> Iterator[bytes]:
    """A file as ``program.sending.give`` sends it. Raises Broken."""
    source = io.BufferedReader(stream, 1 << 18)
    while source.peek(1):
        yield exactly(source, struct.unpack(">I", exactly(source, 4))[0])


def exactly(source: io.BufferedReader[Any], count: int) -> bytes:
    """Read exactly ``count`` bytes. Raises Broken if there are fewer."""
    content = source.read(count)
    if len(content) < count:
        raise Broken("the stream ended early")
    return content
