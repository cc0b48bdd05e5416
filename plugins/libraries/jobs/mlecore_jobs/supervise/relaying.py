"""The only connections out of a sandbox under ``llm``: relay and gateway next to the job, and their ends inside.

Each listens on a Unix socket in the job's folder. A process of the relay's script enters the sandbox's network
namespace, and nothing else of the sandbox, listens on its loopback, and passes everything on to that socket: the agent
can connect to it, but not interfere with it. Where nothing can enter, the sandbox's first program hands out sockets
that listen there.
"""

from __future__ import annotations

import sys

from .door import Guest
from .helpers import Helpers, Program
from .namespaces import Entrance, Way
from .spec import JobSpec

SOCKET = "relay.sock"
LOG = "relay.jsonl"
PORT = 3128
URL = f"http://127.0.0.1:{PORT}"  # of the relay, inside
GATEWAY = "gateway.sock"
GATEWAY_PORT = 3129  # as in mlecore/model/backends.py
PORTS = (PORT, GATEWAY_PORT)
GATEWAY_URL = f"http://127.0.0.1:{GATEWAY_PORT}"
READY = b" on "  # the address, or the socket


def helpers(spec: JobSpec, folder: str, init: int, settings: str | None, guest: Guest | None) -> Helpers:
    """All of a job's; ``settings`` are those of its gateway, if it is to have one.

    A ``guest`` has handed out sockets that listen on the sandbox's loopback already, for PORT and GATEWAY_PORT.
    """
    way = Way(list(guest.listening), []) if guest else Entrance(init, "net")
    at = {port: f"127.0.0.1:{port}" for port in PORTS}
    if guest:
        at = {port: f"fd:{descriptor}" for port, descriptor in zip(PORTS, guest.listening)}  # noqa: B905 - Python 3.9
    relay = [sys.executable, "-I", "-S", spec.relay]
    patterns = [word for pattern in spec.allow for word in ("--allow", pattern)]

    def inside(port: int, socket: str) -> Program:
        return Program([*way.argv, *relay, "--listen", at[port], "--to", socket], READY)

    programs = [
        Program([*relay, "--listen", f"unix:{SOCKET}", "--log", LOG, *patterns], READY),
        inside(PORT, SOCKET),
    ]
    if settings is not None:
        programs += [Program(spec.gateway, READY, settings.encode()), inside(GATEWAY_PORT, GATEWAY)]
    return Helpers(folder, programs, way)
