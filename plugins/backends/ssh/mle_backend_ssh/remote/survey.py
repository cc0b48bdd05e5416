"""What there is on this host, and how much of it jobs use now, whichever controller started them."""

from __future__ import annotations

import getpass
import os
import platform
import shlex
import shutil
import socket
import subprocess
import time
from pathlib import Path
from typing import Any

from mlecore.util.child_environment import child_environment
from mlecore_jobs.supervise.processes import boot_id
from mlecore_jobs.supervise.spec import read_spec
from mlecore_sandboxes import bubblewrap, folders, gpus
from mlecore_sandboxes.supervision import status

_LOGIND = ("org.freedesktop.login1", "/org/freedesktop/login1", "org.freedesktop.login1.Manager")
_BUS_TIMEOUT = 5.0  # seconds that the message bus may take


def survey(root: Path) -> dict[str, Any]:
    """For people: what `mlecore doctor` shows of a host."""
    folders.make_private(root)
    return {
        "hostname": socket.gethostname(),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "bubblewrap": bubblewrap.version() if shutil.which("bwrap") else None,
        "state": str(root),
        "free": shutil.disk_usage(root).free,
        "gpus": sorted(gpus.found()),
        "ends_at_logout": ends_at_logout(),
        "clock": time.time(),
    }


def load(root: Path) -> dict[str, float]:
    """How many jobs have not ended, and what they asked for together."""
    boot = boot_id()
    used: dict[str, float] = {"jobs": 0, "gpus": 0, "cpus": 0, "memory": 0}
    try:
        found = sorted(entry.path for entry in os.scandir(folders.jobs(root)))
    except FileNotFoundError:
        found = []
    for path in map(Path, found):
        if status(path, boot).phase in ("exited", "gone"):
            continue
        used["jobs"] += 1
        if spec := read_spec(str(path)):
            used["gpus"] += spec.gpus
            used["cpus"] += spec.cpus or 0
            used["memory"] += spec.memory or 0
    return used


def ends_at_logout(user: str = "") -> bool:
    """Whether systemd-logind ends what a user started over SSH once they are logged out. False without logind."""
    user = user or getpass.getuser()
    only, excluded = _logind_property("KillOnlyUsers")[2:], _logind_property("KillExcludeUsers")[2:]
    return (
        _logind_property("KillUserProcesses") == ["b", "true"] and user not in excluded and (not only or user in only)
    )


def _logind_property(name: str) -> list[str]:
    """A property as busctl prints it: its type, for an array its length, and its values."""
    try:
        argv = ["busctl", "get-property", *_LOGIND, name]
        done = subprocess.run(
            argv, env=child_environment(), capture_output=True, text=True, timeout=_BUS_TIMEOUT, check=True
        )
        return shlex.split(done.stdout)
    except (OSError, ValueError, subprocess.SubprocessError):
        return []
