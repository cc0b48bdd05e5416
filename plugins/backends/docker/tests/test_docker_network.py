"""What a run reaches under each network, tried from inside."""

from __future__ import annotations

import json
import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from conftest import Lab

pytestmark = pytest.mark.docker

PROBE = """
import json, os, socket, struct
from concurrent.futures import ThreadPoolExecutor

def connects(target):
    try:
        socket.create_connection(tuple(target), timeout=1.0).close()
        return True
    except OSError:
        return False

def serves(target):
    try:
        with socket.create_connection(tuple(target), timeout=5.0) as sock:
            sock.sendall(b"GET http://x.example.com/ HTTP/1.0\\r\\n\\r\\n")
            answer = sock.recv(4096)
        return any(word in answer for word in (b"from the host", b"SimpleHTTP", b"mlecore relay"))
    except OSError:
        return False

def resolves(name):
    try:
        return bool(socket.getaddrinfo(name, 80))
    except OSError:
        return False

def answers(resolver):
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.settimeout(1.0)
    name = bytes([7]) + b"example" + bytes([3]) + b"com" + bytes(1)
    try:
        sock.sendto(struct.pack(">HHHHHH", 7, 256, 1, 0, 0, 0) + name + struct.pack(">HH", 1, 1), (resolver, 53))
        return bool(sock.recv(512))
    except OSError:
        return False

def raw():
    try:
        socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 3).close()
        return True
    except OSError:
        return False

def those(test, given):
    return [item for item, good in zip(given, pool.map(test, given)) if good]

pool = ThreadPoolExecutor(32)
asked = json.loads(os.environ["TARGETS"])
try:  # where this machine usually is on a network of the engine's
    gateway = socket.gethostbyname(socket.gethostname()).rpartition(".")[0] + ".1"
    asked["connect"] += [[gateway, port] for port in asked["host_ports"]]
except OSError:
    pass
print(json.dumps({
    "reached": those(connects, asked["connect"]),
    "served": those(serves, asked["serve"]),
    "resolves": those(resolves, asked["names"]),
    "udp": those(answers, asked["resolvers"]),
    "interfaces": [name for _, name in socket.if_nameindex() if name != "lo"],
    "sockets": [path for path in ("/var/run/docker.sock", "/run/podman/podman.sock") if os.path.exists(path)],
    "raw": raw(),
    "ipv6": [line for line in open("/proc/net/if_inet6") if not line.split()[5] == "lo"]
        if os.path.exists("/proc/net/if_inet6") else [],
}))
"""
NOTHING = {
    "reached": [],
    "served": [],
    "resolves": [],
    "udp": [],
    "interfaces": [],
    "sockets": [],
    "raw": False,
    "ipv6": [],
}


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


def probe(lab: Lab, network: str, places: list[tuple[str, int]], **changes: object) -> dict[str, Any]:
    """What a run in ``network`` reaches of ``places``; resolvers and names besides, where nothing may get out."""
    text = Path("/etc/resolv.conf").read_text()
    resolvers = [line.split()[1] for line in text.splitlines() if line.startswith("nameserver ")]
    asked: dict[str, Any] = {"serve": places, "connect": [], "host_ports": [], "names": [], "resolvers": []}
    if network != "open":
        # 198.51.100.7 stands for any address of the world: a documentation address, routed like all others.
        anywhere = [("198.51.100.7", 443), ("169.254.169.254", 80), *((each, 53) for each in resolvers)]
        asked["connect"] = [*places, *anywhere]
        asked["host_ports"] = sorted({port for _, port in places if port > 10_000})
        asked.update(names=["example.com", "host.docker.internal"], resolvers=resolvers)
    env = {"PROGRAM": PROBE, "TARGETS": json.dumps(asked)}
    seen: dict[str, Any] = json.loads(
        lab.run('exec python3 -c "$PROGRAM"', env=env, network=network, **changes).splitlines()[-1]
    )
    return seen


def address_of(lab: Lab, name: str) -> str:
    networks = lab.engine.api.inspect_container(name)["NetworkSettings"]["Networks"]
    return next(each["IPAddress"] for each in networks.values() if each["IPAddress"])


def serving(lab: Lab, network: str, **changes: object) -> str:
    """Another run, with its own service; its address."""
    handle = lab.start("echo up; exec python3 -m http.server 8099 -d /home/data", network=network, **changes)
    lab.said(handle, "up")
    return address_of(lab, handle.name)


def test_none_reaches_nothing(lab: Lab, listener: int) -> None:
    other = serving(lab, "open")
    hosts = [(address, listener) for address in addresses()]
    assert probe(lab, "none", [*hosts, (other, 8099)]) == NOTHING


def test_llm_reaches_its_relay_and_nothing_else(lab: Lab, listener: int) -> None:
    others = [serving(lab, "open"), serving(lab, "llm", allow=("example.com",))]
    foreign = [(address, port) for address in others for port in (8099, 3128)]
    hosts = [(address, listener) for address in addresses()]
    seen = probe(lab, "llm", [*hosts, *foreign, ("relay", 3128), ("relay", 22)], allow=("example.com",))
    assert seen == {**NOTHING, "interfaces": ["eth0"], "reached": [["relay", 3128]], "served": [["relay", 3128]]}


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


def test_the_relay_lets_through_what_is_listed_and_keeps_a_log(lab: Lab, listener: int, tmp_path: Path) -> None:
    host = "host.docker.internal"
    handle = lab.start(
        f"curl -sS http://{host}:{listener}/; echo; curl -sS http://{host}:9/; curl -sS http://169.254.169.254/;"
        "curl -sS https://example.org/;"
        "echo '{}' >logs/relay.jsonl; echo mine >logs/agent.log",
        network="llm",
        allow=(f"{host}:{listener}",),
    )
    said = lab.output(handle)
    assert "from the host" in said
    assert f"{host}:9 refused" in said and "169.254.169.254:80 refused" in said
    assert "response 403" in said
    fetched = lab.backend.fetch(handle, ["logs"], tmp_path / "out", 1 << 20, 1000)
    lines = [json.loads(line) for line in (tmp_path / "out/logs/relay.jsonl").read_text().splitlines()]
    assert [(line["host"], line["verdict"]) for line in lines] == [
        (host, "allowed"),
        (host, "refused: not on the list"),
        ("169.254.169.254", "refused: not on the list"),
        ("example.org", "refused: not on the list"),
    ]
    assert (tmp_path / "out/logs/agent.log").read_text() == "mine\n"
    assert fetched.files == 2


def test_open_reaches_out_but_no_other_run(lab: Lab, listener: int) -> None:
    others = [serving(lab, "open"), serving(lab, "llm", allow=("example.com",))]
    foreign = [(address, port) for address in others for port in (8099, 3128)]
    hosts = [(address, listener) for address in addresses()]
    seen = probe(lab, "open", [*hosts, *foreign])
    served = {tuple(each) for each in seen["served"]}
    assert not served & set(foreign)
    assert served == set(hosts)  # that open means this machine's addresses too, the README says
    assert (seen["sockets"], seen["raw"]) == ([], False)


def test_a_relay_that_cannot_start_is_reported_in_words_and_leaves_nothing(lab: Lab) -> None:
    from mlecore.errors import BackendError

    with pytest.raises(BackendError, match="is not host"):
        lab.start("true", network="llm", allow=("not a host",))
    assert lab.left() == {}
