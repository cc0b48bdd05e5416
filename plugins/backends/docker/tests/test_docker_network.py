"""What a run reaches under each network, tried from inside."""

from __future__ import annotations

import json
import socket
import subprocess
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Lab

pytestmark = pytest.mark.docker

SERVED = """
import json, os, socket
from concurrent.futures import ThreadPoolExecutor

def serves(target):
    try:
        with socket.create_connection(tuple(target), timeout=5.0) as sock:
            sock.sendall(b"GET http://x.example.com/ HTTP/1.0\\r\\n\\r\\n")
            answer = sock.recv(4096)  # perhaps of a proxy that answers for the whole world
        return any(word in answer for word in (b"from the host", b"SimpleHTTP", b"mlecore relay"))
    except OSError:
        return False

places = json.loads(os.environ["PLACES"])
print(json.dumps([place for place, good in zip(places, ThreadPoolExecutor(32).map(serves, places)) if good]))
"""


@pytest.fixture
def listener() -> Iterator[int]:
    """A service on all of this machine's addresses, which answers every connection with a line."""
    server = socket.create_server(("0.0.0.0", 0))

    def serve() -> None:
        while True:
            try:
                client, _ = server.accept()
            except OSError:
                return
            with client:
                client.settimeout(2)
                try:
                    client.recv(4096)
                    client.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nfrom the host")
                except OSError:
                    continue

    threading.Thread(target=serve, daemon=True).start()
    yield server.getsockname()[1]
    server.close()


def addresses() -> list[str]:
    """This machine's own, the engine's bridges among them."""
    out = subprocess.run(["ip", "-4", "-o", "addr"], capture_output=True, text=True, check=True).stdout
    return sorted({line.split()[3].partition("/")[0] for line in out.splitlines()} - {"127.0.0.1"})


def served(lab: Lab, network: str, places: list[tuple[str, int]], **changes: object) -> set[tuple[str, int]]:
    """Those of ``places`` that answer a run in ``network``; what else it must not reach the agent dummy tries."""
    env = {"PLACES": json.dumps(places)}
    found = lab.ask(SERVED, env=env, network=network, **changes)
    return {(host, port) for host, port in found}


def address_of(lab: Lab, name: str) -> str:
    networks = lab.engine.api.inspect_container(name)["NetworkSettings"]["Networks"]
    return next(each["IPAddress"] for each in networks.values() if each["IPAddress"])


def serving(lab: Lab, network: str, **changes: object) -> str:
    """Another run, with its own service; its address."""
    handle = lab.start("echo up; exec python3 -m http.server 8099 -d /home/data", network=network, **changes)
    lab.said(handle, "up")
    return address_of(lab, handle.name)


@pytest.mark.parametrize("network", ["none", "llm", "open"])
def test_a_run_reaches_no_other_run_and_this_machine_only_with_an_open_network(
    lab: Lab, listener: int, network: str
) -> None:
    others = [serving(lab, "open"), serving(lab, "llm", allow=("example.com",))]
    foreign = [(address, port) for address in others for port in (8099, 3128)]
    hosts = [(address, listener) for address in addresses()]
    places = [*hosts, *foreign, ("relay", 3128), ("relay", 22)]
    allowed = {"allow": ("example.com",)} if network == "llm" else {}
    found = served(lab, network, places, **allowed)
    if network == "open":  # which means this machine's addresses too, as the README says
        assert found and found <= set(hosts)
    else:
        assert found == ({("relay", 3128)} if network == "llm" else set())


def test_llm_asks_no_resolver_of_this_machine(lab: Lab) -> None:
    """Not even through the engine, which answers names itself and could pass on what it does not know."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as resolver:
        try:
            resolver.bind(("127.0.0.1", 53))
        except OSError as error:
            pytest.skip(f"cannot listen at port 53 here: {error}")
        resolver.settimeout(0.2)
        script = "getent hosts secret.example.com; getent hosts secret.internal; echo done"
        assert lab.run(script, network="llm", allow=("example.com",)) == "done\n"
        with pytest.raises(TimeoutError):
            resolver.recv(512)


def test_a_relay_that_cannot_start_is_reported_in_words_and_leaves_nothing(lab: Lab) -> None:
    from mlecore.errors import BackendError

    with pytest.raises(BackendError, match="is not host"):
        lab.start("true", network="llm", allow=("not a host",))
    assert lab.left() == {}
