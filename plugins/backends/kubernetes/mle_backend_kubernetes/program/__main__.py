"""The commands of helper pods.

confine SHELL INIT ARGV...  become an agent's first process, with a filter of system calls
stage                       fill a run's volume, once
bundle                      receive the run's files that stage unpacks
send                        send the agent's files that the request on standard input asks for
give FILE OFFSET [follow]   send a file that others write to, as blocks
receive                     receive public data; continue where an earlier connection broke
sizes                       send the sizes of all public data
connect HOST PORT SECONDS   write to the pod's termination message whether it can be reached
wait SECONDS [IDLE]         keep the container up for the commands above; end early after IDLE seconds without one
"""

from __future__ import annotations

import os
import signal
import sys
import time

from mle_backend_kubernetes.program import messages


def wait(seconds: float, idle: float = float("inf")) -> int:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    deadline = used = time.monotonic()
    deadline += seconds
    while time.monotonic() < deadline and time.monotonic() - used < idle:
        time.sleep(min(5.0, seconds))
        if any(name.isdigit() and int(name) != os.getpid() for name in os.listdir("/proc")):
            used = time.monotonic()
    return 0


def main(command: str, *rest: str) -> int:
    if command == "wait":
        return wait(*map(float, rest))
    if command == "confine":
        from mlecore_jobs import confining  # only this module: imports delay the agent

        confining.confine(*rest)
    from mle_backend_kubernetes.program import receiving, sending, staging

    if command == "give":
        return sending.give(rest[0], int(rest[1]), "follow" in rest)
    if command == "connect":
        return staging.connect(rest[0], int(rest[1]), float(rest[2]))
    return {
        "stage": staging.stage,
        "bundle": staging.bundle,
        "send": sending.send,
        "receive": receiving.receive,
        "sizes": receiving.sizes,
    }[command]()


if __name__ == "__main__":
    try:
        code = main(*sys.argv[1:])
        messages.flush()
    except (BrokenPipeError, EOFError):  # the other side is gone
        os._exit(4)
    sys.exit(code)
