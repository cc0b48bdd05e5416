"""What hardware a job has, from the kernel of its machine: read outside of sandboxes, where agents cannot forge it.

The backend ``docker`` uses it on its engine's machine, and ``kubernetes`` in a pod before its agent begins. Python 3.8.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Dict, Optional  # noqa: UP035


def measured(cpus: Optional[float], memory: Optional[int], gpus: Sequence[str] = ()) -> Dict[str, Any]:  # noqa: UP006, UP045
    """The fields of ``Hardware`` for a job with these limits; None: it may use the whole machine."""
    affinity = getattr(os, "sched_getaffinity", None)
    here = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    system = os.uname()
    return {
        "cpus": cpus if cpus is not None else len(affinity(0)) if affinity else os.cpu_count(),
        "cpu": cpu_model(),
        "memory": here if memory is None else min(memory, here),
        "gpus": list(gpus),
        "kernel": f"{system.sysname} {system.release} {system.machine}",
    }


def cpu_model(path: str = "/proc/cpuinfo") -> str:
    """As the kernel names it; empty where it does not (macOS, some ARM machines)."""
    try:
        with open(path, encoding="utf-8", errors="replace") as source:  # noqa: PTH123
            for line in source:
                name, _, value = line.partition(":")
                if name.strip() == "model name":
                    return value.strip()
    except OSError:
        pass
    return ""
