"""What answers from here? Names, addresses outside, the host, cloud metadata, the sockets of engines."""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

from finding import finding

SECONDS = 0.7
OUTSIDE = (("1.1.1.1", 443), ("8.8.8.8", 53), ("9.9.9.9", 443), ("2606:4700:4700::1111", 443))
METADATA = (("169.254.169.254", 80), ("169.254.170.2", 80), ("fd00:ec2::254", 80), ("100.100.100.200", 80))
HOST_PORTS = (22, 80, 443, 2375, 2376, 5000, 6443, 8080, 10250)
NAMES = ("example.com", "host.docker.internal", "kubernetes.default.svc", "metadata.google.internal")
FORBIDDEN = ("example.com:443", "169.254.169.254:80", "1.1.1.1:443")  # to any relay
PROXIES = ("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy")
SOCKETS = (
    "/var/run/docker.sock",
    "/run/docker.sock",
    "/run/containerd/containerd.sock",
    "/run/podman/podman.sock",
    "/run/crio/crio.sock",
    "/run/dbus/system_bus_socket",
    "/run/systemd/private",
    "/run/snapd.socket",
)


def look(home: Path, opt: Path) -> list[dict[str, object]]:
    mode = os.environ.get("MLECORE_PROBE_NETWORK", "none")
    wide = mode == "open"
    host = [(gateway, port) for gateway in gateways() for port in HOST_PORTS]
    with ThreadPoolExecutor(64) as pool:  # all at once: what does not answer costs its time-out once
        targets = [*OUTSIDE, *METADATA, *host]
        trials = [(target, pool.submit(connects, target)) for target in targets]
        lookups = [(name, pool.submit(resolves, name)) for name in NAMES]
        relays = [(target, pool.submit(relayed, target)) for target in FORBIDDEN]
    reached = [target for target, trial in trials if trial.result()]
    outside, metadata, gateway = (spelled(reached, known) for known in (OUTSIDE, METADATA, host))
    names = [name for name, lookup in lookups if lookup.result()]
    passed = [target for target, relay in relays if relay.result()]
    cards = interfaces()
    # A pod always has its card. Under a policy nothing answers there, not even the router.
    alone = set(cards) <= {"lo"} or bool(host and not reached and not names)
    return [
        finding("network_interfaces", cards, f"for network {mode}: ", mode != "none" or alone),
        finding("network_names", names, "resolved: ", wide or not names),
        finding("network_outside", outside, "reached: ", wide or not outside),
        finding("network_host", gateway, "reached: ", wide or not gateway),
        finding("network_metadata", metadata, "reached: "),
        finding("network_relay", passed, "let through: "),
        finding("network_packets", raw_packets(), "raw sockets: "),
        finding("network_listeners", listeners(), "ports that others listen on: ", True if mode != "none" else None),
        finding("engine_sockets", engines(), "there: "),
        finding("abstract_sockets", abstract_sockets(), "there: ", True if wide else None),
    ]


def spelled(reached: list[tuple[str, int]], known: Sequence[tuple[str, int]]) -> list[str]:
    return [f"{address} port {port}" for address, port in reached if (address, port) in known]


def lines(path: str) -> list[list[str]]:
    """The lines of a file under /proc, split; without its heading."""
    try:
        text = Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    return [line.split() for line in text.splitlines()[1:]]


def interfaces() -> list[str]:
    return sorted(fields[0].partition(":")[0] for fields in lines("/proc/net/dev") if ":" in fields[0])


def gateways() -> list[str]:
    """The host as this network sees it: the default routes' next hops."""
    found = set()
    for fields in lines("/proc/net/route"):
        if len(fields) > 2 and fields[1] == "00000000" and fields[2] != "00000000":
            found.add(socket.inet_ntoa(struct.pack("=I", int(fields[2], 16))))
    return sorted(found)


def connects(target: tuple[str, int]) -> bool:
    try:
        socket.create_connection(target, timeout=SECONDS).close()
    except OSError:
        return False
    return True


def resolves(name: str) -> bool:
    """Asks the name servers themselves: getaddrinfo has no time-out, and would answer from /etc/hosts."""
    question = b"".join(bytes([len(part)]) + part.encode() for part in name.split(".")) + b"\0"
    packet = b"\x4d\x4c\x01\0\0\x01\0\0\0\0\0\0" + question + b"\0\x01\0\x01"
    for server in name_servers():
        try:
            family = socket.AF_INET6 if ":" in server else socket.AF_INET
            with socket.socket(family, socket.SOCK_DGRAM) as link:
                link.settimeout(SECONDS)
                link.connect((server, 53))
                link.send(packet)
                reply = link.recv(512)
        except OSError:
            continue
        if len(reply) > 8 and reply[6:8] != b"\0\0":  # it has answers
            return True
    return False


def name_servers() -> list[str]:
    try:
        text = Path("/etc/resolv.conf").read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    named = [line.split()[1] for line in text.splitlines() if line.startswith("nameserver") and len(line.split()) > 1]
    return [*named, "8.8.8.8"][:3]


def relayed(target: str) -> bool:
    """Does the proxy that the environment names, if any, let a connection through to where it should not?"""
    address = next((os.environ[name] for name in PROXIES if os.environ.get(name)), "")
    if not address:
        return False
    parts = urlsplit(address if "//" in address else "//" + address)
    try:
        with socket.create_connection((parts.hostname or "", parts.port or 80), timeout=SECONDS) as link:
            link.sendall(f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n".encode())
            reply = link.recv(64)
    except (OSError, ValueError):
        return False
    return reply.split()[1:2] == [b"200"]


def raw_packets() -> list[str]:
    """Raw sockets would let a process listen to its neighbours."""
    found = []
    for name, arguments in (("packet", (17, socket.SOCK_RAW)), ("ip", (socket.AF_INET, socket.SOCK_RAW, 1))):
        try:
            socket.socket(*arguments).close()
            found.append(name)
        except OSError:
            continue
    return found


def listeners() -> list[str]:
    """TCP ports that somebody listens on in this network; a network of my own has none."""
    rows = [*lines("/proc/net/tcp"), *lines("/proc/net/tcp6")]
    return sorted({str(int(row[1].rpartition(":")[2], 16)) for row in rows if len(row) > 3 and row[3] == "0A"})


def engines() -> list[str]:
    return [path for path in SOCKETS if Path(path).exists()]


def abstract_sockets() -> list[str]:
    """Unix sockets without a file, which only a network namespace keeps apart."""
    return sorted({row[-1] for row in lines("/proc/net/unix") if row and row[-1].startswith("@")})
