"""A link to a host: what runs a command there, and a request over it, whose failures become mlecore's errors."""

from __future__ import annotations

import contextlib
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import IO, Any

from attrs import frozen

from mle_backend_ssh import bundle
from mle_backend_ssh.remote import wire
from mlecore.errors import BackendUnreachable


@frozen(kw_only=True)
class Channel:
    """A command that runs on a host: its input, and its output."""

    stdin: IO[bytes]
    out: IO[bytes]


class Link(ABC):
    """One host. Thread-safe."""

    name: str

    @abstractmethod
    def run(self, command: str) -> contextlib.AbstractContextManager[Channel]:
        """Run a command of the host's shell until the context ends. Its output has both of its streams.

        Raises BackendUnreachable if the host does not answer, BackendError if it refuses the login.
        """


class Requests:
    """Requests to the program on a host, which is sent there before the first one."""

    def __init__(self, link: Link, python: str, options: Mapping[str, str], environment: Mapping[str, str]) -> None:
        self.link = link
        self._python = python
        self._options = dict(options)
        self._environment = dict(environment)
        self._folder: str | None = None
        self._installing = threading.Lock()

    @contextmanager
    def open(
        self,
        method: str,
        *arguments: object,
        secrets: Mapping[str, str] | None = None,
        gateway_python: str | None = None,
    ) -> Iterator[Channel]:
        """A request whose answer is still to be read, and that more can be sent to.

        ``secrets`` are variables for the host's program; they are in no command line and no file. ``gateway_python``
        is the host's, for the gateway of a job. What breaks the connection becomes BackendUnreachable.
        """
        head = {
            "method": method,
            "arguments": wire.pack(arguments),
            "options": self._options,
            "gateway_python": gateway_python,
            "environment": {**self._environment, **(secrets or {})},
        }
        with self._broken_is_unreachable(), self.link.run(bundle.run_command(self._python, self._install())) as channel:
            wire.await_greeting(channel.out)
            wire.write(channel.stdin, head)
            try:
                yield channel
            except BrokenPipeError:
                self.result(channel)  # the host may have said why it reads no more
                raise

    def ask(self, method: str, *arguments: object) -> Any:
        """The result of a request that needs no more than its arguments."""
        with self.open(method, *arguments) as channel:
            return self.result(channel)

    def result(self, channel: Channel) -> Any:
        """The end of an answer; what comes before is passed over. Raises the host's error."""
        return self.read(channel, ("result",))[0]["result"]

    def read(self, channel: Channel, kinds: Sequence[str] = ()) -> tuple[dict[str, Any], bytes]:
        """The next line of an answer that is a result or one of ``kinds`` (all, if none is given)."""
        while True:
            head, content = wire.read(channel.out)
            if "error" in head:
                raise wire.unpack_error(head, self.link.name)
            if "result" in head:
                return {"result": wire.unpack(head["result"])}, b""
            if not kinds or head.get("kind") in kinds:
                return head, content

    def _install(self) -> str:
        """The folder of the program on the host."""
        with self._installing:
            if self._folder is None:
                with self.link.run(bundle.install_command(self._python)) as channel:
                    wire.await_greeting(channel.out)
                    if channel.out.readline(100) == b"send\n":
                        channel.stdin.write(bundle.archive()[1])
                        channel.stdin.flush()
                    folder = channel.out.readline(10_000)
                    if not (folder.startswith(b"/") and folder.endswith(b"\n")):
                        why = folder.decode(errors="replace").strip() or "the connection ended"
                        raise wire.ConnectionBroken(f"the host's program could not be sent: {why}")
                    self._folder = folder.decode().rstrip("\n")
            return self._folder

    @contextmanager
    def _broken_is_unreachable(self) -> Iterator[None]:
        try:
            yield
        except (wire.ConnectionBroken, BrokenPipeError, ConnectionError) as error:
            self._folder = None  # its disk may have been emptied
            raise BackendUnreachable(f"{self.link.name}: {error}", fix="It is asked again by itself.") from None
