"""A network of its own for a sandbox under ``open``: slirp4netns carries its connections, in user mode.

What the job reaches is what this machine reaches, but not what listens on the machine's own 127.0.0.1, or on Unix
sockets without a file, which belong to a network namespace.
"""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

from .helpers import Helpers, Program
from .namespaces import Entrance

PROGRAM = "slirp4netns"
RESOLVER = "10.0.2.3"  # where it answers questions about names, by asking the machine's own servers


_TUN = Path("/dev/net/tun")  # of which it gets its network card


def problem() -> tuple[str, str]:
    """Why it cannot be used, and what to do about that; empty if it can."""
    if shutil.which(PROGRAM) is None:
        return f"{PROGRAM} is not installed", f"Install {PROGRAM} (apt-get install {PROGRAM})."
    if not _TUN.exists():
        return f"there is no {_TUN}, which {PROGRAM} needs", "Load the module: modprobe tun."
    if not os.access(_TUN, os.R_OK | os.W_OK):
        mode = f"{stat.S_IMODE(_TUN.stat().st_mode):04o}"
        return f"{PROGRAM} may not open {_TUN} (its mode is {mode})", f"Let users open it: chmod 0666 {_TUN}."
    return "", ""


def is_there() -> bool:
    return problem() == ("", "")


def helpers(folder: str, init: int) -> Helpers:
    """The network helper of one job."""
    entrance = Entrance(init, "net")
    net, *owner = (f"/proc/self/fd/{descriptor}" for descriptor in entrance.descriptors)
    argv = [PROGRAM, "--configure", "--mtu=65520", "--disable-host-loopback", "--ready-fd=2"]
    argv += [f"--userns-path={path}" for path in owner]
    argv += ["--netns-type=path", net, "tap0"]
    return Helpers(folder, [Program(argv, rb"(^|\n)1$")], entrance)
