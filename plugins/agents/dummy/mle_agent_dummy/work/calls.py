"""Which system calls are let through that a sandbox has no use for? What one of them opens is closed again."""

from __future__ import annotations

import ctypes
import errno
import os
import socket
import stat
import struct
from pathlib import Path

from finding import finding

NUMBERS = {  # call -> its number under x86-64, aarch64
    "bpf": (321, 280),
    "io_uring_setup": (425, 425),
    "keyctl": (250, 219),
    "perf_event_open": (298, 241),
    "prlimit64": (302, 261),
    "process_vm_writev": (311, 271),
    "ptrace": (101, 117),
    "unshare": (272, 97),
    "userfaultfd": (323, 282),
}
MACHINES = ("x86_64", "aarch64")
REFUSED = (errno.EPERM, errno.EACCES, errno.ENOSYS)
FAMILIES = {"AF_VSOCK": 40, "AF_ALG": 38, "AF_TIPC": 30, "AF_RDS": 21, "AF_BLUETOOTH": 31}
NEW_USER = 0x10000000
SEIZE, DETACH = 0x4206, 17
CPU = 0  # RLIMIT_CPU
SESSION_KEYRING, READ = -3, 11


def look(home: Path, opt: Path) -> list[dict[str, object]]:
    found = [standard_input(), sockets()]
    if os.uname().machine not in MACHINES:
        return [*found, finding("system_calls", [], f"not tried on {os.uname().machine}, let through: ")]
    return [*found, keyring(), doors(), init()]


def call(name: str, *arguments: int | bytes | None) -> tuple[int, int]:
    """What it returns, and the error."""
    libc = ctypes.CDLL(None, use_errno=True)
    ctypes.set_errno(0)
    number = NUMBERS[name][MACHINES.index(os.uname().machine)]
    wide = [ctypes.c_long(value) if isinstance(value, int) else value for value in arguments]
    value = libc.syscall(ctypes.c_long(number), *wide)
    return value, ctypes.get_errno() if value < 0 else 0


def passes(name: str, *arguments: int | bytes | None) -> bool:
    """Did the kernel at least look at it? What it opened is closed."""
    value, error = call(name, *arguments)
    if value > 2:
        os.close(value)
    return error not in REFUSED


def standard_input() -> dict[str, object]:
    """By /proc, what was opened for reading can be opened again; a file outside must not become writable that way."""
    try:
        kind = str(Path("/proc/self/fd/0").readlink())
        os.close(os.open("/proc/self/fd/0", os.O_WRONLY | os.O_NONBLOCK))
    except OSError:
        return finding("standard_input", [], "let through: ")
    harmless = kind.startswith(("/memfd:", "/dev/")) or not kind.startswith("/")  # a copy, a terminal, a pipe
    return finding("standard_input", [] if harmless else [f"writing to {kind}"], "let through: ")


def sockets() -> dict[str, object]:
    """Families that a network namespace does not keep apart."""
    found = []
    for name, family in FAMILIES.items():
        for kind in (socket.SOCK_STREAM, socket.SOCK_SEQPACKET):
            try:
                socket.socket(family, kind).close()
            except OSError:
                continue
            found.append(name)
            break
    return finding("socket_families", found, "open: ", "AF_VSOCK" not in found)


def keyring() -> dict[str, object]:
    """The keys of the user who started the sandbox; their contents are not read."""
    size, error = call("keyctl", READ, SESSION_KEYRING, None, 0)
    if error in REFUSED:
        return finding("keyring", [], "let through: ")
    return finding("keyring", [f"the session keyring, with {max(0, size) // 4} keys"], "let through: ")


def doors() -> dict[str, object]:
    """Calls that sandboxes were left by, again and again."""
    event = struct.pack("=IIQ", 1, 64, 9).ljust(40, b"\0") + struct.pack("=Q", 0b1100001) + bytes(16)
    tries = {
        "bpf": lambda: passes("bpf", 0, None, 0),
        "io_uring": lambda: passes("io_uring_setup", 1, None),
        "perf_event_open": lambda: passes("perf_event_open", event, 0, -1, -1, 0),
        "userfaultfd": lambda: passes("userfaultfd", 1),
        "a user namespace of my own": namespace,
    }
    return finding("kernel_calls", [name for name, door in tries.items() if door()], "let through: ")


def namespace() -> bool:
    """In a child, which it does not leave."""
    child = os.fork()
    if child == 0:
        try:
            os._exit(0 if call("unshare", NEW_USER)[0] == 0 else 1)
        finally:
            os._exit(1)
    return os.waitpid(child, 0)[1] == 0


def init() -> dict[str, object]:
    """The first process keeps the time. Its limits are set to what they are, and tracing it ends at once."""
    found = []
    limits = (ctypes.c_uint64 * 2)()
    at = ctypes.addressof(limits)
    if call("prlimit64", 1, CPU, None, at)[0] == 0 and call("prlimit64", 1, CPU, at, None)[0] == 0:
        found.append("setting its limits")
    if call("ptrace", SEIZE, 1, None, None)[0] == 0:
        call("ptrace", DETACH, 1, None, None)
        found.append("tracing it")
    if passes("process_vm_writev", 1, None, 0, None, 0, 0):
        found.append("writing its memory")
    for path in ("/proc/1/mem", "/proc/1/task/1/mem"):
        try:
            descriptor = os.open(path, os.O_RDWR)
        except OSError:
            continue
        if stat.S_ISREG(os.fstat(descriptor).st_mode):  # else something lies over it
            found.append(path)
        os.close(descriptor)
    return finding("init", found, "let through: ")
