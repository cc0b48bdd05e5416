"""The relay: an allow-list proxy (CONNECT and plain HTTP) with a log, the only way out of a sandbox under ``llm``.

It is one file of the standard library for Python 3.8 or later, because it also runs as a script where mlecore is not
installed: in a container beside the run, or on a bare machine behind a Unix socket::

    python relay.py --listen 0.0.0.0:3128 --allow api.example.com:443 --log relay.jsonl
    python relay.py --listen unix:/run/relay.sock --allow '*.example.com'
    python relay.py --listen 127.0.0.1:3128 --to /run/relay.sock      # only forwards: the end inside a sandbox
    python relay.py --listen 0.0.0.0:3128 --forward 0.0.0.0:3129=/run/gateway.sock      # both

A pattern is ``host``, ``host:port``, ``*.domain`` or ``*.domain:port`` (subdomains, not the domain itself); without
a port it means 80 and 443. What an allowed host and port serve is not checked. A name may lead to public addresses
only, so that its DNS cannot point it to inside addresses, unless its pattern says otherwise: an address,
or an exact name that is private by its form (``localhost``, ``vllm``, ``models.internal``). A private address that
is listed itself may be reached by an allowed name too. Link-local addresses (cloud metadata) must be listed as such.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import ipaddress
import json
import re
import signal
import socket
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    Address = ipaddress.IPv4Address | ipaddress.IPv6Address
    Stream = tuple[asyncio.StreamReader, asyncio.StreamWriter]

HEADER_BYTES = 32 * 1024
CONNECTIONS = 256
HEADER_SECONDS = 30.0
CONNECT_SECONDS = 30.0
IDLE_SECONDS = 1800.0  # a model may take long before its first byte
LOG_BYTES = 32 * 1024 * 1024

_NAME = re.compile(r"(?!-)[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*")
_PRIVATE_SUFFIXES = (".internal", ".local", ".localhost", ".lan", ".corp", ".home.arpa", ".test", ".svc")
_HOP_BY_HOP = (b"connection", b"proxy-connection", b"proxy-authorization", b"keep-alive", b"te", b"upgrade", b"host")


class Refused(Exception):
    """The list does not allow it; the message says why."""


class Pattern:
    """One entry of the allow-list. Raises ValueError for what is not a pattern."""

    def __init__(self, text: str) -> None:
        host, port = split_port(text.strip().lower())
        self.wildcard = host.startswith("*.")
        self.host = host[2:].rstrip(".") if self.wildcard else host.rstrip(".")
        self.address = None if self.wildcard else as_address(self.host)
        if self.address is None and (not _NAME.fullmatch(self.host) or self.host.rpartition(".")[2].isdigit()):
            raise ValueError(f"{text!r} is not host[:port], *.domain[:port] or an address")
        self.ports = (80, 443) if port is None else (port,)
        private = "." not in self.host or self.host.endswith(_PRIVATE_SUFFIXES)
        self.inward = private and not self.wildcard and self.address is None

    def names(self, host: str, port: int) -> bool:
        """Does it allow this host, as the client wrote it?"""
        if port not in self.ports:
            return False
        if self.address is not None:
            return as_address(host) == self.address
        return host.endswith("." + self.host) if self.wildcard else host == self.host


def split_port(text: str) -> tuple[str, int | None]:
    """``host:port``, ``[v6]:port``, ``host`` or a bare IPv6 address, taken apart. Raises ValueError."""
    host, colon, port = text.rpartition(":")
    if not colon or (text.count(":") > 1 and not host.endswith("]")):
        host, port = text, ""
    elif not re.fullmatch(r"[0-9]{1,5}", port) or not 0 < int(port) < 65536:
        raise ValueError(f"{text!r} has no valid port")
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    return host, int(port) if port else None


def as_address(host: str) -> Address | None:
    """The address that ``host`` literally is; one of IPv4 that is mapped into IPv6 as itself."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return None
    return (getattr(address, "ipv4_mapped", None) or address) if "%" not in host else None


def _outward(address: Address) -> bool:
    """Is it a public address, and not a tunnel to another one (6to4, Teredo, NAT64)?"""
    if isinstance(address, ipaddress.IPv6Address) and (
        address.sixtofour or address.teredo or address in ipaddress.ip_network("64:ff9b::/32")
    ):
        return False
    return address.is_global and not address.is_multicast


def vet(patterns: Sequence[Pattern], host: str, port: int) -> Callable[[str], bool]:
    """Check a name; the result checks the addresses that it leads to. Raises Refused."""
    named = [pattern for pattern in patterns if pattern.names(host, port)]
    if not named:
        raise Refused("not on the list")
    inward = any(pattern.inward for pattern in named)

    def reachable(text: str) -> bool:
        address = as_address(text.partition("%")[0])
        if address is None:
            return False
        if any(pattern.address == address and port in pattern.ports for pattern in patterns):
            return True
        return _outward(address) or (inward and not address.is_link_local and not address.is_multicast)

    return reachable


class Log:
    """JSON lines, one per connection when it ends, at most LOG_BYTES: an agent cannot fill a disk with them."""

    def __init__(self, out: IO[str]) -> None:
        self._out = out
        self._left = LOG_BYTES

    def write(self, **fields: Any) -> None:
        line = json.dumps({"time": round(time.time(), 3), **fields}) + "\n"
        if self._left <= 0:
            return
        self._left -= len(line)
        if self._left <= 0:
            line = json.dumps({"time": round(time.time(), 3), "verdict": "the log is full"}) + "\n"
        with contextlib.suppress(OSError):  # a full disk must not end the run's only connection
            self._out.write(line)
            self._out.flush()


class Connection:
    """One connection, from its first byte to its line in the log."""

    def __init__(self, client: Stream, patterns: Sequence[Pattern], log: Log, idle: float) -> None:
        self.client = client
        self.patterns = patterns
        self.log = log
        self.idle = idle
        self.host, self.port, self.verdict = "", 0, "no request"
        self.sent = self.received = 0
        self.moved = time.monotonic()
        self.answered = False  # the client has got something

    async def serve(self) -> None:
        """Never raises, except for cancellation."""
        began = time.monotonic()
        try:
            await self._request()
        except Refused as why:
            self.verdict = f"refused: {why}"
            await self._answer("403 Forbidden", f"{self.host}:{self.port} {self.verdict}")
        except ValueError as error:
            self.verdict = f"bad request: {error}"
            await self._answer("400 Bad Request", self.verdict)
        except (OSError, asyncio.TimeoutError) as error:  # noqa: UP041 - two classes before Python 3.11
            self.verdict = f"failed: {error or type(error).__name__}"
            await self._answer("502 Bad Gateway", self.verdict)
        except asyncio.CancelledError:
            self.verdict += ", cut off"
            raise
        finally:
            self.client[1].close()
            seconds = round(time.monotonic() - began, 3)
            self.log.write(
                host=self.host, port=self.port, verdict=self.verdict,
                sent=self.sent, received=self.received, seconds=seconds,
            )  # fmt: skip

    async def _request(self) -> None:
        try:
            head = await asyncio.wait_for(self.client[0].readuntil(b"\r\n\r\n"), HEADER_SECONDS)
        except asyncio.LimitOverrunError:
            raise ValueError(f"more than {HEADER_BYTES} bytes of headers") from None
        except asyncio.IncompleteReadError:
            raise ValueError("the client hung up before the end of its headers") from None
        line, *headers = head[:-4].split(b"\r\n")
        method, _, rest = line.decode("latin-1").partition(" ")
        target, _, version = rest.rpartition(" ")
        if version not in ("HTTP/1.0", "HTTP/1.1") or not re.fullmatch("[A-Z]+", method):
            raise ValueError("not HTTP/1")
        if any(item[:1] in (b" ", b"\t") or b"\n" in item or b"\r" in item for item in headers):
            raise ValueError("a header goes over more than one line")
        if method == "CONNECT":
            self._name(target, None)
            upstream = await self._connect()
            self.client[1].write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            self.answered = True
        else:
            url = urlsplit(target)
            if url.scheme != "http" or "@" in url.netloc:
                raise ValueError("expected CONNECT host:port or METHOD http://host/path")
            self._name(url.netloc, 80)
            upstream = await self._connect()
            path = (url.path or "/") + ("?" + url.query if url.query else "")
            kept = [item for item in headers if item.split(b":")[0].strip().lower() not in _HOP_BY_HOP]
            first = f"{method} {path} {version}\r\nHost: {url.netloc}\r\nConnection: close".encode("latin-1")
            upstream[1].write(b"\r\n".join([first, *kept]) + b"\r\n\r\n")
        try:
            await self._tunnel(upstream)
        finally:
            upstream[1].close()

    def _name(self, netloc: str, default_port: int | None) -> None:
        host, port = split_port(netloc.lower())
        port = port or default_port
        if port is None or not (_NAME.fullmatch(host.rstrip(".")) or as_address(host)):
            raise ValueError("no valid host and port")
        self.host, self.port = host.rstrip("."), port

    async def _connect(self) -> Stream:
        reachable = vet(self.patterns, self.host, self.port)
        loop = asyncio.get_running_loop()
        lookup = loop.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM)
        found = [item[4][0] for item in await asyncio.wait_for(lookup, CONNECT_SECONDS)]
        addresses = [str(address) for address in dict.fromkeys(found) if reachable(str(address))]
        if not addresses:
            raise Refused("it leads to no public address, and neither its form nor the list says that it may")
        problem: Exception = OSError("no address")
        for address in addresses:
            try:
                upstream = await asyncio.wait_for(asyncio.open_connection(address, self.port), CONNECT_SECONDS)
            except (OSError, asyncio.TimeoutError) as error:  # noqa: UP041
                problem = error
            else:
                self.verdict = "allowed"
                return upstream
        raise problem

    async def _tunnel(self, upstream: Stream) -> None:
        """Both ways until both ends are done, or nothing has moved for too long."""
        pumps = {
            asyncio.ensure_future(self._pump(self.client[0], upstream[1], "sent")),
            asyncio.ensure_future(self._pump(upstream[0], self.client[1], "received")),
        }
        try:
            while pumps:
                left = self.moved + self.idle - time.monotonic()
                if left <= 0:
                    self.verdict = f"allowed, idle for {self.idle:g} s"
                    return
                done, pumps = await asyncio.wait(pumps, timeout=left, return_when=asyncio.FIRST_COMPLETED)
                if any(pump.exception() for pump in done):
                    return  # one end broke the connection, which ends the other too
        finally:
            for pump in pumps:
                pump.cancel()

    async def _pump(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, way: str) -> None:
        self.moved = time.monotonic()
        while chunk := await source.read(64 * 1024):
            self.moved = time.monotonic()
            self.answered = self.answered or way == "received"
            setattr(self, way, getattr(self, way) + len(chunk))
            sink.write(chunk)
            await sink.drain()
        if sink.can_write_eof():
            sink.write_eof()

    async def _answer(self, status: str, text: str) -> None:
        """Send a refusal with its reason, if the client still listens."""
        body = f"mlecore relay: {text}\n"
        head = f"HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {len(body.encode())}"
        with contextlib.suppress(OSError, asyncio.TimeoutError):
            self.client[1].write(f"{head}\r\nConnection: close\r\n\r\n{body}".encode())
            await asyncio.wait_for(self.client[1].drain(), 5)


async def relay(
    listen: str, patterns: Sequence[Pattern], log: Log, *, to: str | None = None,
    connections: int = CONNECTIONS, idle: float = IDLE_SECONDS, ready: Callable[[object], None] = lambda address: None,
) -> None:  # fmt: skip
    """Serve until cancelled, on ``host:port``, ``unix:PATH`` or an open ``fd:NUMBER``.

    Beyond ``connections``, a new one takes the place of the oldest that was never answered: clients that connect and
    say nothing keep nobody out.

    ``to``: only forward, to this Unix socket or ``host:port``. ``ready`` gets the address when the relay listens.
    """
    active: dict[asyncio.Future[None], Connection] = {}

    def make_room() -> bool:
        for task, connection in active.items():
            if not connection.answered:
                del active[task]
                task.cancel()
                return True
        return False

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if len(active) >= connections and not make_room():
            writer.write(b"HTTP/1.1 503 Too many connections\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            writer.close()
            return
        connection = Connection((reader, writer), patterns, log, idle)
        if task is not None:
            active[task] = connection
            task.add_done_callback(lambda done: active.pop(done, None))
        if to is None:
            await connection.serve()
            return
        try:
            upstream = await _open(to)
            await connection._tunnel(upstream)
            upstream[1].close()
        finally:
            writer.close()

    if listen.startswith("unix:"):
        path = Path(listen[len("unix:") :])
        if path.is_socket():  # left by a relay that was killed
            path.unlink()
        server = await asyncio.start_unix_server(accept, str(path), limit=HEADER_BYTES)
    elif listen.startswith("fd:"):
        given = socket.socket(fileno=int(listen[len("fd:") :]))
        server = await asyncio.start_server(accept, sock=given, limit=HEADER_BYTES)
    else:
        host, port = listen.rsplit(":", 1)
        server = await asyncio.start_server(accept, host.strip("[]") or None, int(port), limit=HEADER_BYTES)
    try:
        sockets = server.sockets or ()
        ready(sockets[0].getsockname())
        await asyncio.get_running_loop().create_future()  # for ever
    finally:
        server.close()
        for task in list(active):
            task.cancel()
        await asyncio.gather(*active, return_exceptions=True)


async def _open(to: str) -> Stream:
    host, _, port = to.rpartition(":")
    if host and port.isdigit():
        return await asyncio.open_connection(host.strip("[]"), int(port))
    return await asyncio.open_unix_connection(to)


async def _main(options: argparse.Namespace, patterns: list[Pattern], out: IO[str]) -> None:
    log, ends, listening = Log(out), [(options.listen, options.to), *options.forward], []

    def ready(at: object) -> None:
        listening.append(str(at))
        if len(listening) == len(ends):
            sys.stderr.write(f"relay on {', '.join(listening)}\n")
            sys.stderr.flush()

    task = asyncio.gather(*(relay(listen, patterns, log, to=to, ready=ready) for listen, to in ends))
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)
    with contextlib.suppress(asyncio.CancelledError):
        await task


def _forward(text: str) -> tuple[str, str]:
    listen, equals, socket_path = text.partition("=")
    if not equals or not socket_path:
        raise argparse.ArgumentTypeError(f"{text!r} is not HOST:PORT=SOCKET")
    return listen, socket_path


def main(argv: list[str] | None = None) -> None:
    """The script."""
    parser = argparse.ArgumentParser(prog="relay", description="An allow-list proxy with a log.")
    parser.add_argument("--listen", required=True, metavar="HOST:PORT|unix:PATH|fd:NUMBER")
    parser.add_argument("--allow", action="append", default=[], metavar="HOST[:PORT]", help="may be given many times")
    parser.add_argument("--log", metavar="FILE", help="where the JSON lines go; standard output by default")
    parser.add_argument("--to", metavar="SOCKET|HOST:PORT", help="only forward, such as to the Unix socket of a relay")
    parser.add_argument(
        "--forward", action="append", default=[], type=_forward, metavar="HOST:PORT=SOCKET",
        help="listen there, too, and only forward to this Unix socket; may be given many times",
    )  # fmt: skip
    options = parser.parse_args(argv)
    try:
        patterns = [Pattern(text) for text in options.allow]
    except ValueError as error:
        parser.error(str(error))
    with open(options.log, "a", encoding="utf-8") if options.log else contextlib.nullcontext(sys.stdout) as out:  # noqa: PTH123
        asyncio.run(_main(options, patterns, out))


if __name__ == "__main__":
    main()
