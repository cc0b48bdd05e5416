"""The network, as a pod sees it."""

from __future__ import annotations

import socket
import time

from mle_backend_kubernetes.program.paths import TOLD


def reached(host: str, port: int, seconds: float = 1.0) -> bool:
    try:
        socket.create_connection((host, port), timeout=seconds).close()
    except OSError:
        return False
    return True


def connect(host: str, port: int, seconds: float) -> int:
    """Write ``reached`` or ``cut off`` to the pod's termination message.

    ``cut off`` is certain after three failures in a row. A connection that succeeds is tried again, for a policy
    comes into force a moment after the pod begins.
    """
    deadline, failures = time.monotonic() + seconds, 0
    word = "cut off"
    while time.monotonic() < deadline and failures < 3:
        if reached(host, port):
            word, failures = "reached", 0
            time.sleep(0.2)
        else:
            word, failures = "cut off", failures + 1
            time.sleep(0.1)
    with open(TOLD, "w") as out:
        out.write(word)
    return 0
