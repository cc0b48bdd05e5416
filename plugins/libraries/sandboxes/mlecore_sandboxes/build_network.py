"""The network of a build's sandbox: what this machine reaches, and of its own services the mirrors and proxies only."""

from __future__ import annotations

import ipaddress
import netrc
import re
import socket
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

from mlecore_jobs import relay as relay_program
from mlecore_jobs.supervise import relaying, slirp
from mlecore_jobs.supervise.helpers import Helpers, Program
from mlecore_jobs.supervise.namespaces import Entrance, is_whole

_ADDRESS = re.compile(r"\b[a-z][a-z0-9+]*://[^\s'\"<>]+", re.IGNORECASE)
_PORTS = {"http": 80, "https": 443, "socks5": 1080, "socks5h": 1080}
_LARGEST = 1 << 20  # bytes of a settings file
_WHOLE = 20.0  # seconds


class Network:
    """The network of one sandbox."""

    def __init__(self, folder: Path, settings: Iterable[str] | None) -> None:
        """``settings`` name mirrors and proxies, or files that do; None: the sandbox has no network at all."""
        self._folder = folder
        self._connected = settings is not None
        self._hosts = dict.fromkeys(_addresses(settings or ()))
        self._helpers: list[Helpers] = []

    @property
    def own(self) -> bool:
        """Has the sandbox a network namespace of its own? Else it shares this machine's, 127.0.0.1 included."""
        return not self._connected or slirp.is_there()

    def logins(self, file: str | None) -> str:
        """What the user's netrc says of the mirrors and proxies, and of no other host."""
        try:
            found = netrc.netrc(file).hosts
        except (OSError, netrc.NetrcParseError):
            return ""
        known = {host: found[host] for host, _ in self._hosts if host in found}
        return "".join(f"machine {host} login {said[0]} password {said[2]}\n" for host, said in known.items())

    def connect(self, init: int) -> None:
        """Connect the sandbox with this first process. Raises RuntimeError, OSError."""
        if not (self._connected and self.own):
            return
        limit = time.monotonic() + _WHOLE
        while not is_whole(init, str(self._folder / "home")):
            if time.monotonic() > limit:
                raise RuntimeError("bubblewrap does not finish the sandbox")
            time.sleep(0.002)
        self._start(slirp.helpers(str(self._folder), init))
        entrance = Entrance(init, "net")
        self._start(Helpers(str(self._folder), list(self._forwarders(entrance)), entrance))

    def _start(self, helpers: Helpers) -> None:
        self._helpers.append(helpers)
        helpers.start()

    def _forwarders(self, entrance: Entrance) -> Iterator[Program]:
        """For each mirror or proxy on this machine's loopback: one that listens inside, and one that connects here."""
        relay = [sys.executable, "-I", "-S", relay_program.__file__]
        here = {place for host, port in self._hosts for place in _loopback(host, port)}
        for number, place in enumerate(sorted(here)):
            between = f"{number}.sock"
            yield Program([*relay, "--listen", f"unix:{between}", "--to", place], relaying.READY)
            yield Program([*entrance.argv, *relay, "--listen", place, "--to", between], relaying.READY)

    def close(self) -> None:
        """Cut the sandbox off."""
        while self._helpers:
            self._helpers.pop().stop()


def _addresses(settings: Iterable[str]) -> Iterator[tuple[str, int]]:
    """Host and port of all URLs in settings, and in the files that they name."""
    for text in settings:
        for said in (text, _content(text)):
            for found in _ADDRESS.findall(said):
                try:
                    url = urlsplit(found)
                    port = url.port or _PORTS.get(url.scheme)
                except ValueError:
                    continue
                if url.hostname and port:
                    yield url.hostname, port


def _content(text: str) -> str:
    path = Path(text)
    if not (text.startswith("/") and path.is_file()) or path.stat().st_size > _LARGEST:
        return ""
    return path.read_text(encoding="utf-8", errors="replace")


def _loopback(host: str, port: int) -> Iterator[str]:
    """The addresses of this machine's loopback that a host's name leads to, with the port."""
    try:
        found = {item[4][0] for item in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)}
    except OSError:
        return
    for text in found:
        address = ipaddress.ip_address(str(text).partition("%")[0])
        if address.is_loopback:
            yield f"[{address}]:{port}" if address.version == 6 else f"{address}:{port}"
