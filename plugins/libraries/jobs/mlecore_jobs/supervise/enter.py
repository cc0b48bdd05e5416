"""The first program in a sandbox of Apptainer, which becomes the job's first process when the supervisor says so.

Without a user namespace nothing outside may enter the sandbox's namespaces. So this hands out what the supervisor
needs of them, as open descriptors: its processes, its shared memory, and sockets that listen on its loopback.

It runs with the Python of the sandbox, 3.8 or later, as one file beside the filter of system calls.
"""

from __future__ import annotations

import array
import json
import os
import resource
import signal
import socket
import sys

VIEWS = ("/proc", "/dev/shm", "/proc/sysvipc/shm")
_LIMITS = ("CORE", "FSIZE", "DATA", "NPROC")


def main(door: str, *ports: str) -> None:
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(door)
    orders = _orders(connection, [int(port) for port in ports])
    for name in _LIMITS:
        if name in orders["limits"]:
            _limit(getattr(resource, f"RLIMIT_{name}"), int(orders["limits"][name]))
    _die_with_apptainer()
    for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT, signal.SIGQUIT):  # Python or a shell ignores them
        signal.signal(number, signal.SIG_DFL)
    os.chdir(orders["home"])
    os.umask(0o022)
    kept = os.environ if orders["keep"] else {}
    env = {name: value for name, value in kept.items() if not name.startswith(("APPTAINER", "SINGULARITY"))}
    os.environ.clear()
    os.environ.update({**env, **orders["env"]})
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120
    from mlecore_jobs import confining

    argv = orders["argv"]
    if orders["init"]:
        confining.confine(*argv)
    confining.filter_calls()
    os.execvp(argv[0], argv)


def _orders(connection: socket.socket, ports: list[int]) -> dict:  # type: ignore[type-arg]
    """What the supervisor wants, once it has taken what it needs."""
    listening = [_listening(port) for port in ports]
    views = [os.open(path, os.O_RDONLY) for path in VIEWS]
    handed = array.array("i", [*views, *(each.fileno() for each in listening)])
    connection.sendmsg([b"."], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, handed)])
    for descriptor in views:
        os.close(descriptor)
    for each in listening:
        each.close()
    text = b""
    while True:
        more = connection.recv(1 << 16)
        if not more:
            break
        text += more
    connection.close()
    return json.loads(text)  # type: ignore[no-any-return]


def _listening(port: int) -> socket.socket:
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port))
    listener.listen(256)
    return listener


def _die_with_apptainer() -> None:
    """Apptainer asks the kernel for this, too, before it drops privileges, with which the kernel forgets it."""
    import ctypes

    ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)  # PR_SET_PDEATHSIG


def _limit(which: int, value: int) -> None:
    most = resource.getrlimit(which)[1]
    if most != resource.RLIM_INFINITY:
        value = min(value, most)
    resource.setrlimit(which, (value, value))


if __name__ == "__main__":
    main(*sys.argv[1:])
