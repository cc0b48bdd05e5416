"""The system calls that an agent's container may make: Docker's default profile, with init out of reach.

Also without memory that nobody is charged with (memfd_secret, huge pages), and without programs of 32 bits, whose calls
pass flags in memory, where a filter cannot see them. As in mlecore_jobs/seccomp.py.

``moby/default.json`` is the profile of github.com/moby/profiles/seccomp v0.2.4, unchanged (Apache License 2.0, beside
it). Engines have the one of their own age: older ones let AF_VSOCK and io_uring through. All let a process trace, limit
and write to others of the same user; init is one, and keeps the time limit. It is process 1, and containers cannot make
namespaces in which that number means another.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from mlecore_sandboxes.containers.engine import Engine

_MOBY = Path(__file__).parent / "moby" / "default.json"
_PROCESS = {"ptrace": 1, "process_vm_readv": 0, "process_vm_writev": 0, "prlimit64": 0}  # call -> argument with it
_HUGE = {"memfd_create": (1, 0x4), "mmap": (3, 0x40000), "shmget": (2, 0o4000)}  # call -> argument with flags, the flag
_UNCOUNTED = ("memfd_secret",)
_NEW_LIMITS = 2  # prlimit64's argument; 0 where it only reads
_INT = 32  # bits: what the kernel looks at of a process's number

# With these an agent could take over init, or offer it to the kernel that is short of memory.
_INIT_FILES = tuple(
    f"/proc/1/{folder}{name}" for folder in ("", "task/1/") for name in ("mem", "oom_adj", "oom_score_adj")
)
_MASKED = (  # what engines hide by themselves
    *("/proc/acpi", "/proc/asound", "/proc/interrupts", "/proc/kcore", "/proc/keys", "/proc/latency_stats"),
    *("/proc/sched_debug", "/proc/scsi", "/proc/timer_list", "/proc/timer_stats"),
    *("/sys/devices/virtual/powercap", "/sys/firmware"),
)


def is_ours(engine: Engine) -> bool:
    """Do containers get this profile? Not where the engine has none, or one that somebody chose for it."""
    return not engine.is_podman and any(
        str(option) in ("name=seccomp", "name=seccomp,profile=default", "name=seccomp,profile=builtin")
        for option in engine.info.get("SecurityOptions") or ()
    )


def rights() -> dict[str, Any]:
    """What a container's HostConfig says of it, besides other security options."""
    return {"SecurityOpt": [f"seccomp={profile()}"], "MaskedPaths": [*_MASKED, *_INIT_FILES]}


@cache
def profile() -> str:
    """As the engine reads it."""
    moby = json.loads(_MOBY.read_text())
    rules = []
    for rule in moby["syscalls"]:
        needs = rule.get("includes", {}).get("caps")
        names = [name for name in rule["names"] if needs or name not in (*_PROCESS, *_HUGE, *_UNCOUNTED)]
        if names:
            rules.append({**rule, "names": names})
    native = [{**each, "subArchitectures": []} for each in moby["archMap"]]
    return json.dumps({**moby, "archMap": native, "syscalls": [*rules, *_but_init(), *_but_huge()]})


def _but_init() -> Iterator[dict[str, Any]]:
    """Allow what is not about process 1. A profile cannot say "unequal" of half of an argument, but of single bits."""
    for call, index in _PROCESS.items():
        yield _allow(call, index, 1, 0)
        for bit in range(1, _INT):
            yield _allow(call, index, 1 << bit, 1 << bit)
    yield {
        "names": ["prlimit64"],
        "action": "SCMP_ACT_ALLOW",
        "args": [{"index": _NEW_LIMITS, "value": 0, "op": "SCMP_CMP_EQ"}],
    }


def _but_huge() -> Iterator[dict[str, Any]]:
    """Allow what asks for ordinary pages."""
    for call, (index, flag) in _HUGE.items():
        yield _allow(call, index, flag, 0)


def _allow(call: str, index: int, mask: int, value: int) -> dict[str, Any]:
    test = {"index": index, "value": mask, "valueTwo": value, "op": "SCMP_CMP_MASKED_EQ"}
    return {"names": [call], "action": "SCMP_ACT_ALLOW", "args": [test]}
