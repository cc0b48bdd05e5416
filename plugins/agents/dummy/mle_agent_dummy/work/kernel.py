"""Which doors into the kernel and the machine stand open? They are tried, never walked through."""

from __future__ import annotations

import os
import resource
from pathlib import Path

from finding import finding

WRITABLE = (
    "/proc/sysrq-trigger",
    "/proc/sys/kernel/core_pattern",
    "/proc/sys/kernel/hostname",
    "/proc/sys/vm/overcommit_memory",
    "/sys/kernel/uevent_helper",
    "/sys/fs/cgroup/cgroup.procs",
    "/sys/fs/cgroup/memory.max",
    "/sys/power/state",
    "/dev/mem",
    "/dev/kmem",
    "/dev/port",
)
READABLE = ("/proc/kcore", "/dev/mem", "/dev/kmem", "/dev/port", "/dev/kmsg")
DISKS = ("sd*", "nvme*", "vd*", "xvd*", "dm-*", "loop*", "mapper/*")


def look(home: Path, opt: Path) -> list[dict[str, object]]:
    written = [path for path in WRITABLE if opens(path, os.O_WRONLY)]
    read = [path for path in READABLE if opens(path, os.O_RDONLY)]
    disks = [str(path) for pattern in DISKS for path in sorted(Path("/dev").glob(pattern)) if opens(path, os.O_RDONLY)]
    cards = sorted(str(path) for path in Path("/dev").glob("nvidia[0-9]*"))
    return [
        finding("kernel_write", written, "open for writing: "),
        finding("kernel_read", read, "open for reading: "),
        finding("disks", disks, "open: "),
        finding("gpus", cards, "visible: ", ok=True),
        limits(),
    ]


def opens(path: str | Path, mode: int) -> bool:
    try:
        os.close(os.open(path, mode | os.O_NONBLOCK))
    except OSError:
        return False
    return True


def limits() -> dict[str, object]:
    """What holds this process back; for people to read, as each place limits in its own way."""
    shown = []
    for name in ("AS", "CPU", "FSIZE", "NPROC", "CORE"):
        soft, _ = resource.getrlimit(getattr(resource, "RLIMIT_" + name))
        shown.append(f"{name.lower()}={'none' if soft == resource.RLIM_INFINITY else soft}")
    for name in ("memory.max", "pids.max", "cpu.max"):
        try:
            shown.append(f"{name}={Path('/sys/fs/cgroup', name).read_text(encoding='utf-8').strip()}")
        except OSError:
            continue
    return finding("limits", shown, ok=True)
