"""What there is on this host, and how much of it jobs use now, whichever controller started them."""

from __future__ import annotations

import os
import platform
import shutil
import socket
import time
from pathlib import Path
from typing import Any

from mle_backend_vm import bubblewrap, folders, gpus
from mle_backend_vm.supervise.processes import boot_id
from mle_backend_vm.supervise.spec import read_spec
from mle_backend_vm.supervision import status

from mle_backend_ssh.remote.logind import ends_at_logout


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
