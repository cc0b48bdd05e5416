"""A network of its own for a sandbox under ``open``: slirp4netns carries its connections, in user mode.

What the job reaches is what this machine reaches, but not what listens on the machine's own 127.0.0.1, or on Unix
sockets without a file, which belong to a network namespace.
"""

from __future__ import annotations

import os
import shutil

from .helpers import Helpers, Program
from .namespaces import Entrance

PROGRAM = "slirp4netns"
RESOLVER = "10.0.2.3"  # where it answers questions about names, by asking the machine's own servers


def is_there() -> bool:
    """Is it installed, and may it make the network card that it wants?"""
    return shutil.which(PROGRAM) is not None and os.access("/dev/net/tun", os.R_OK | os.W_OK)


def helpers(folder: str, init: int) -> Helpers:
    """Of one job."""
    entrance = Entrance(init, "net")
    net, *owner = (f"/proc/self/fd/{descriptor}" for descriptor in entrance.descriptors)
    argv = [PROGRAM, "--configure", "--mtu=65520", "--disable-host-loopback", "--ready-fd=2"]
    argv += [f"--userns-path={path}" for path in owner]
    argv += ["--netns-type=path", net, "tap0"]
    return Helpers(folder, [Program(argv, rb"(^|\n)1$")], entrance)
