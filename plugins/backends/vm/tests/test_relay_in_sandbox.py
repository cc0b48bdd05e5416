"""Under ``llm`` a sandbox reaches what the relay lets through, and nothing else."""

from __future__ import annotations

import json
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from mle_backend_vm.supervise import processes

pytestmark = pytest.mark.sandbox

ASK = """
import os, socket, sys, urllib.request
opener = urllib.request.build_opener(urllib.request.ProxyHandler({"http": os.environ["HTTP_PROXY"]}))
for url in sys.argv[1:]:
    try:
        print(opener.open(url, timeout=10).read().decode())
    except OSError as error:
        print("refused" if "403" in str(error) else error)
    host, _, port = url.partition("//")[2].rstrip("/").partition(":")
    try:
        socket.create_connection((host, int(port)), 3)
        print("reached without the relay")
    except OSError:
        pass
"""


class Answer(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"a model's words")

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def servers() -> Iterator[list[str]]:
    made = [HTTPServer(("127.0.0.1", 0), Answer) for _ in range(2)]
    for server in made:
        threading.Thread(target=server.serve_forever, daemon=True).start()
    yield [f"127.0.0.1:{server.server_address[1]}" for server in made]
    for server in made:
        server.shutdown()
        server.server_close()


def test_the_relay_ends_with_a_killed_supervisor(lab: Any, servers: list[str], wait_until: Callable[..., None]) -> None:
    handle = lab.start("/bin/sleep", "60", network="llm", allow=(servers[0],))
    wait_until(lambda: len(_relays(lab)) == 2)
    state = json.loads((lab.vm._root / "jobs" / handle.name / "state.json").read_text())
    os.kill(state["pid"], signal.SIGKILL)
    wait_until(lambda: _relays(lab) == [])


def test_a_relay_that_dies_is_started_again(lab: Any, servers: list[str], wait_until: Callable[..., None]) -> None:
    script = f"echo up; while ! [ -e go ]; do sleep 0.05; done; exec python3 -c '{ASK}' http://{servers[0]}/"
    handle = lab.start("/bin/sh", "-c", script, network="llm", allow=(servers[0],), memory=10**9)
    wait_until(lambda: "up" in lab.output(handle))
    before = set(_relays(lab))
    for pid in before:
        os.kill(pid, signal.SIGKILL)
    wait_until(lambda: len(set(_relays(lab)) - before) == 2)
    wait_until(lambda: any(_listens(pid) for pid in set(_relays(lab)) - before))
    wait_until(lambda: _answers(lab.vm._root / "jobs" / handle.name))
    (lab.vm._root / "jobs" / handle.name / "home/go").touch()
    lab.wait(handle)
    assert lab.output(handle) == "up\na model's words\n"


def _relays(lab: Any) -> list[int]:
    out = []
    for pid in processes.pids():
        try:
            if os.readlink(f"/proc/{pid}/cwd").startswith(str(lab.folder)) and processes.started(pid):  # noqa: PTH115
                out.append(pid)
        except OSError:
            continue
    return [pid for pid in out if b"relay.py" in _cmdline(pid)]


def _listens(pid: int) -> bool:
    """Is there, in its network namespace, a listener on 127.0.0.1:3128?"""
    try:
        return "0100007F:0C38 00000000:0000 0A" in Path(f"/proc/{pid}/net/tcp").read_text()
    except OSError:
        return False


def _answers(folder: Path, name: str = "relay.sock") -> bool:
    here = os.open(".", os.O_RDONLY)
    os.chdir(folder)  # such a path may be too long for a socket's name
    try:
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(name)
            return True
    except OSError:
        return False
    finally:
        os.fchdir(here)
        os.close(here)


def _cmdline(pid: int) -> bytes:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as source:  # noqa: PTH123
            return source.read()
    except OSError:
        return b""
