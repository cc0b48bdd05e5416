"""Hosts without a network: the same program, sent and started in the same way, as a process of this machine."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

import pytest
from mle_backend_ssh.host import Host
from mle_backend_ssh.hosts import HostSettings
from mle_backend_ssh.link import Channel, Link

from mlecore.errors import BackendUnreachable


class LocalLink(Link):
    """Runs commands here, with a home of their own. ``cut_after`` and ``cut_out_after``: bytes of input
    and of output after which the link breaks."""

    def __init__(self, name: str, home: Path) -> None:
        self.name = name
        self.home = home
        self.up = True
        self.cut_after: int | None = None
        self.cut_out_after: int | None = None
        self.sent = self.received = 0
        self.commands: list[str] = []
        home.mkdir(parents=True, exist_ok=True)

    @contextmanager
    def run(self, command: str) -> Iterator[Channel]:
        if not self.up:
            raise BackendUnreachable(f"{self.name} does not answer")
        self.commands.append(command)
        env = {"PATH": os.environ["PATH"], "HOME": str(self.home)}
        process = subprocess.Popen(
            ["/bin/sh", "-c", command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=env,
            cwd=self.home,
        )
        assert process.stdin and process.stdout
        try:
            yield Channel(stdin=_Cut(process.stdin, self), out=_CutOut(process.stdout, self))  # type: ignore[arg-type]
        finally:
            for stream in (process.stdin, process.stdout):
                with suppress(BrokenPipeError):
                    stream.close()
            process.wait(300)


class _CutOut:
    """Output that ends where the link is cut."""

    def __init__(self, stream: IO[bytes], link: LocalLink) -> None:
        self._stream, self._link = stream, link

    def readline(self, limit: int = -1) -> bytes:
        return self._counted(self._stream.readline(limit))

    def read(self, size: int) -> bytes:
        return self._counted(self._stream.read(size))

    def _counted(self, data: bytes) -> bytes:
        self._link.received += len(data)
        if self._link.cut_out_after is not None and self._link.received > self._link.cut_out_after:
            self._link.cut_out_after = None
            self._stream.close()
            return b""
        return data


class _Cut:
    """Input that ends where the link is cut."""

    def __init__(self, stream: IO[bytes], link: LocalLink) -> None:
        self._stream, self._link = stream, link

    def write(self, data: bytes) -> int:
        link = self._link
        if link.cut_after is not None and link.sent + len(data) > link.cut_after:
            self._stream.write(data[: link.cut_after - link.sent])
            self._stream.close()  # the host sees the end of it, and answers no more
            link.sent, link.cut_after = link.cut_after, None
            raise BrokenPipeError("the link was cut")
        link.sent += len(data)
        return self._stream.write(data)

    def flush(self) -> None:
        self._stream.flush()


@pytest.fixture
def make_link(tmp_path: Path) -> Callable[[str], LocalLink]:
    return lambda name: LocalLink(name, tmp_path / name)


@pytest.fixture
def link(make_link: Callable[[str], LocalLink]) -> LocalLink:
    return make_link("gpu1")


@pytest.fixture
def host(link: LocalLink) -> Host:
    return Host(HostSettings(address=link.name, python=sys.executable), link, {"isolation": "none"})
