"""A link by asyncssh: the user's ssh config, agent, keys and known_hosts; one connection a host, made again if lost."""

from __future__ import annotations

import asyncio
import io
import os
import threading
import weakref
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from mle_backend_ssh.link import Channel, Link
from mle_backend_ssh.remote import wire
from mlecore.errors import BackendError, BackendUnreachable

if TYPE_CHECKING:
    from asyncssh import SSHClientConnection

T = TypeVar("T")

_AT_ONCE = 8  # commands over one connection; sshd allows ten (MaxSessions)
_CONNECTED = 30.0  # seconds within which a host must let us in
_KEEPALIVE = 10.0  # seconds between signs of life; after four without an answer, the link is taken for cut


class SshLink(Link):
    """``address`` is ``[user@]host[:port]``, or a name of the user's ssh config."""

    def __init__(self, address: str) -> None:
        self.name = address
        self._connection: SSHClientConnection | None = None
        self._close: Callable[[], object] = lambda: None  # its connection; by itself once nobody uses this link
        self._connecting = threading.Lock()
        self._slots = threading.BoundedSemaphore(_AT_ONCE)

    @contextmanager
    def run(self, command: str) -> Iterator[Channel]:
        """The output is a pipe, so that whoever reads it needs no event loop."""
        with self._slots:
            connection = self._connected()
            out, from_host = os.pipe()
            with os.fdopen(out, "rb") as reader:
                try:
                    process = _wait(_process(connection, command, from_host))
                except _failures() as error:
                    with suppress(OSError):
                        os.close(from_host)
                    self._connection = None
                    raise self._explained(error) from None
                writer = io.BufferedWriter(_Input(process), wire.CHUNK)
                try:
                    yield Channel(stdin=writer, out=reader)
                finally:
                    with suppress(BrokenPipeError):
                        writer.close()
                    asyncio.run_coroutine_threadsafe(_close(process), _loop())

    def _connected(self) -> SSHClientConnection:
        with self._connecting:
            if self._connection is None or self._connection.is_closed():
                self._close()
                try:
                    self._connection = connection = _wait(_connect(self.name))
                except _failures() as error:
                    raise self._explained(error) from None
                self._close = weakref.finalize(self, _loop().call_soon_threadsafe, connection.close)
            return self._connection

    def _explained(self, error: BaseException) -> BackendError:
        """What keeps us out, and what to do about it."""
        import asyncssh

        name = self.name
        if isinstance(error, asyncssh.HostKeyNotVerifiable):
            return BackendError(
                f"the host key of {name} is not known here, or is not the one that is known: {error}",
                fix=f"Log in once with `ssh {name}` and compare the fingerprint that it shows with the host's own.",
            )
        if isinstance(error, asyncssh.PermissionDenied):
            return BackendError(
                f"{name} accepts none of your keys",
                fix=f"Load your key (ssh-add), or install it there (ssh-copy-id {name}); `ssh {name} true` must work.",
            )
        if isinstance(error, (asyncssh.ConfigParseError, asyncssh.KeyImportError)):
            return BackendError(f"the settings of ssh for {name} cannot be used: {error}", fix="See ~/.ssh/config.")
        return BackendUnreachable(f"{name} does not answer: {_reason(error)}", fix=f"Try `ssh {name} true`.")


def _reason(error: BaseException) -> str:
    """In one line, without numbers and addresses: "Connection refused"."""
    if isinstance(error, OSError) and error.errno is not None:
        return os.strerror(error.errno) if error.errno > 0 else str(error.strerror)  # negative: of name resolution
    if isinstance(error, TimeoutError):
        return "the connection timed out"
    return " ".join(str(error).split()) or type(error).__name__


async def _connect(address: str) -> SSHClientConnection:
    import asyncssh

    user, _, host = address.rpartition("@")
    host, port = split_port(host)
    given: dict[str, Any] = {"username": user} if user else {}
    if port is not None:
        given["port"] = port
    connecting = asyncssh.connect(
        host, **given, keepalive_interval=_KEEPALIVE, keepalive_count_max=4, connect_timeout=_CONNECTED
    )
    return await asyncio.wait_for(connecting, _CONNECTED * 2)


async def _process(connection: SSHClientConnection, command: str, stdout: int) -> Any:
    import asyncssh

    return await connection.create_process(command, stdout=stdout, stderr=asyncssh.STDOUT, encoding=None)


class _Input(io.RawIOBase):
    """The input of a process. A pipe that asyncssh reads would not do: its end, if it comes while the process ends,
    is a ``KeyError: None`` in asyncssh's callback, and content that comes then a BrokenPipeError."""

    def __init__(self, process: Any) -> None:
        self._process = process

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        """Waits while the host reads more slowly. Raises BrokenPipeError."""
        content = bytes(data)
        try:
            _wait(_feed(self._process, content))
        except _failures() as error:
            raise BrokenPipeError(str(error) or "the command has ended") from None
        return len(content)


async def _feed(process: Any, content: bytes) -> None:
    process.stdin.write(content)
    await process.stdin.drain()


async def _close(process: Any) -> None:
    process.close()
    await process.wait_closed()


def split_port(host: str) -> tuple[str, int | None]:
    """``host:port`` or ``[v6]:port`` in its parts; an IPv6 address without brackets has no port."""
    name, colon, port = host.rpartition(":")
    if colon and port.isdigit() and (":" not in name or name.endswith("]")):
        return name.strip("[]"), int(port)
    return host.strip("[]"), None


def _failures() -> tuple[type[BaseException], ...]:
    import asyncssh

    return (asyncssh.Error, asyncssh.ConfigParseError, asyncssh.KeyImportError, OSError, TimeoutError)


@cache
def _new_loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="ssh", daemon=True).start()
    return loop


_making_loop = threading.Lock()


def _loop() -> asyncio.AbstractEventLoop:
    """The event loop of all connections, in a thread of its own."""
    with _making_loop:  # a cache alone lets several threads make one each
        return _new_loop()


def _wait(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run_coroutine_threadsafe(work, _loop()).result()
