"""The filter of system calls: its numbers, what it decides on both architectures, and that sandboxes have it."""

from __future__ import annotations

import ctypes
import errno
import json
import os
import struct
from pathlib import Path
from typing import Any

import pytest

from mlecore_jobs import seccomp

ALLOW = 0
ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
ONES = 0xFFFFFFFF_FFFFFFFF


def decide(machine: str, call: str | int, *arguments: int, arch: int | None = None) -> int:
    """What the kernel would do with a call: 0, or the error that it gets. Interprets the program."""
    column = list(ARCH).index(machine)
    number = seccomp._NUMBERS[call][column] if isinstance(call, str) else call
    assert number is not None
    full = (*arguments, *(0,) * (6 - len(arguments)))
    data = struct.pack("=IIQ6Q", number, ARCH[machine] if arch is None else arch, 0, *(value & ONES for value in full))
    lines = list(struct.iter_unpack("=HBBI", seccomp.program(machine)))
    at = value = 0
    while True:
        code, yes, no, constant = lines[at]
        at += 1
        if code == 0x20:
            value = struct.unpack_from("=I", data, constant)[0]
        elif code == 0x54:
            value &= constant
        elif code in (0x15, 0x25):
            at += yes if (value == constant if code == 0x15 else value > constant) else no
        else:
            assert code == 0x06
            return 0 if constant == 0x7FFF0000 else constant & 0xFFFF


@pytest.fixture(params=ARCH)
def machine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_numbers_are_those_of_libseccomp(machine: str) -> None:
    try:
        resolve = ctypes.CDLL("libseccomp.so.2").seccomp_syscall_resolve_name_arch
    except OSError:
        pytest.skip("libseccomp is not installed")
    column = list(ARCH).index(machine)
    known = 0
    for call, numbers in seccomp._NUMBERS.items():
        number = resolve(ctypes.c_uint32(ARCH[machine]), call.encode())
        if number == -1:  # younger than the library
            continue
        known += 1
        assert (number if number >= 0 else None) == numbers[column], call
    assert known > 50


def test_what_ordinary_programs_do_is_allowed(machine: str) -> None:
    for number in (0, 1, 10, 50, 96, 200, 228, 424, 434, 449):
        assert decide(machine, number) == ALLOW, number
    for family in (1, 2, 10, 16):
        assert decide(machine, "socket", family) == ALLOW
    assert decide(machine, "socketpair", 1) == ALLOW
    assert decide(machine, "clone", 0x003D0F00) == ALLOW  # a thread, as glibc makes it
    assert decide(machine, "clone", 0x01200011) == ALLOW  # a process
    assert decide(machine, "unshare", 0x00000400) == ALLOW  # CLONE_FILES
    assert decide(machine, "ioctl", 0, 0x5401) == ALLOW
    assert decide(machine, "ptrace", 0x4206, 77) == ALLOW  # a debugger within the job
    assert decide(machine, "prlimit64", 0, 0, 0x7FFF_0000_0000) == ALLOW
    assert decide(machine, "prlimit64", 1, 0, 0) == ALLOW


def test_what_is_refused_is_refused_whatever_its_arguments(machine: str) -> None:
    for call in seccomp._REFUSED:
        if seccomp._NUMBERS[call][list(ARCH).index(machine)] is not None:
            assert decide(machine, call) == decide(machine, call, *(ONES,) * 6) == errno.EPERM, call


def test_arguments_decide(machine: str) -> None:
    for flag in (0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000):
        assert decide(machine, "clone", flag | 17) == decide(machine, "unshare", flag) == errno.EPERM
    assert decide(machine, "clone", 0xDEAD_0000_1000_0000) == errno.EPERM  # the kernel looks at the lower half
    assert decide(machine, "unshare", 0x80) == errno.EPERM
    for family in (40, 38, 0, 45, 1 << 31):
        assert decide(machine, "socket", family) == errno.EAFNOSUPPORT
    for request in (0x5412, 0x541C, 0xFFFF_FFFF_0000_5412):  # bits above the lower 32 once fooled filters
        assert decide(machine, "ioctl", 0, request) == errno.EPERM
    for call, arguments in (("ptrace", (16, 1)), ("process_vm_writev", (1,)), ("process_vm_readv", (0x1_0000_0001,))):
        assert decide(machine, call, *arguments) == errno.EPERM
    for pointer in (8, 0x7FFF_0000_0000, 0x1_0000_0000):
        assert decide(machine, "prlimit64", 1, 0, pointer) == errno.EPERM
    assert decide(machine, "clone3") == errno.ENOSYS


def test_room_beyond_the_end_of_a_file_cannot_be_reserved(machine: str) -> None:
    """Which RLIMIT_FSIZE does not bind."""
    for mode in range(0x200):
        assert decide(machine, "fallocate", 3, mode, 0, 1 << 40) == (ALLOW if mode in (0, 3) else errno.EOPNOTSUPP)
    assert decide(machine, "fallocate", 3, 0x1_0000_0001) == errno.EOPNOTSUPP
    for request in (0x40305828, 0x4030582A, 0x40305839):  # the same as ioctls of every file system
        assert decide(machine, "ioctl", 3, request) == errno.EPERM


# ---------------------------------------------------------------- Docker's default profile


_MOBY = Path(__file__).parents[3] / "backends" / "docker" / "mle_backend_docker" / "moby" / "default.json"
_NEWER = {  # than the oldest libseccomp in use
    "cachestat": 451, "fchmodat2": 452, "map_shadow_stack": 453, "futex_wake": 454, "futex_wait": 455,
    "futex_requeue": 456, "statmount": 457, "listmount": 458, "lsm_get_self_attr": 459, "lsm_set_self_attr": 460,
    "lsm_list_modules": 461, "mseal": 462, "setxattrat": 463, "getxattrat": 464, "listxattrat": 465,
    "removexattrat": 466,
}  # fmt: skip
_GONE = {"getpmsg", "putpmsg", "afs_syscall", "tuxcall", "security", "vserver"}  # the kernel has nothing there


def _names(machine: str) -> dict[str, int]:
    """Call -> number, of all that the kernel of an architecture has."""
    try:
        name_of = ctypes.CDLL("libseccomp.so.2").seccomp_syscall_resolve_num_arch
    except OSError:
        pytest.skip("libseccomp is not installed")
    name_of.restype = ctypes.c_char_p
    found = {number: name_of(ctypes.c_uint32(ARCH[machine]), number) for number in range(seccomp.NEWEST + 1)}
    return {**{name.decode(): number for number, name in found.items() if name}, **_NEWER}


def docker_allows(machine: str, call: str, *arguments: int) -> bool:
    """Of a container without capabilities, on a kernel of today."""
    system = {"x86_64": "amd64", "aarch64": "arm64"}[machine]
    full = (*arguments, *(0,) * (6 - len(arguments)))
    for rule in json.loads(_MOBY.read_text())["syscalls"]:
        needs, never = rule.get("includes", {}), rule.get("excludes", {})
        if call not in rule["names"] or needs.get("caps") or rule["action"] != "SCMP_ACT_ALLOW":
            continue
        if system not in needs.get("arches", [system]) or system in never.get("arches", ()):
            continue
        if all(_meets(full[each["index"]], each) for each in rule.get("args", ())):
            return True
    return False


def _meets(value: int, test: dict[str, Any]) -> bool:
    wanted = test["value"]
    if test["op"] == "SCMP_CMP_MASKED_EQ":
        return value & wanted == test.get("valueTwo", 0)
    return value < wanted if test["op"] == "SCMP_CMP_LT" else value == wanted


def test_what_docker_blocks_is_blocked(machine: str) -> None:
    """Whatever its arguments; and docs/vm.md names all that is blocked beyond that."""
    calls = _names(machine)
    allowed = {call for call, number in calls.items() if decide(machine, number) == ALLOW}
    of_docker = {call for call in calls if docker_allows(machine, call)}
    assert allowed - of_docker - _GONE == {"unshare"}  # without new namespaces: of open files and the like
    assert of_docker - allowed == {"clock_adjtime", "memfd_secret", "socket", "socketpair"}  # of the family 0


def test_memory_is_of_kinds_that_are_counted(machine: str) -> None:
    for huge in (("memfd_create", 0, 0x4), ("mmap", 0, 1 << 21, 3, 0x40022), ("shmget", 0, 1 << 21, 0o5600)):
        assert decide(machine, *huge) == errno.EPERM
    assert decide(machine, "memfd_create", 0, 0x1D << 26 | 0x4) == errno.EPERM  # with a size of pages
    for ordinary in (("memfd_create", 0, 0x3), ("mmap", 0, 4096, 3, 0x22), ("shmget", 0, 4096, 0o1600)):
        assert decide(machine, *ordinary) == ALLOW
    assert decide(machine, "mmap", 0, 1 << 30, 3, 0x40_0000_0022) == ALLOW  # the flag's bit in the upper half only


def test_unknown_calls_are_not_there(machine: str) -> None:
    assert decide(machine, seccomp.NEWEST + 1) == decide(machine, 0x40000000) == errno.ENOSYS  # the latter is x32
    assert decide(machine, 1, arch=0x40000003) == errno.ENOSYS  # a program of 32 bits


@pytest.mark.sandbox
@pytest.mark.skipif(seccomp.here() is None, reason="this machine has no filters of system calls")
def test_every_process_of_a_sandbox_has_it(lab: Any) -> None:
    look = "grep -h '^Seccomp:' /proc/1/status /proc/self/status; unshare -U true"
    status, output = lab.run(look)
    assert output.split()[:4] == ["Seccomp:", "2", "Seccomp:", "2"]
    assert status.exit_code and "Operation not permitted" in output
    assert lab.backend.describe().details["system_calls"] == "filtered"


PLACE = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
size = ctypes.c_long(40_000_000)
with open("code/x", "wb") as file:
    for mode in (0, 1, 0x10 | 1):
        print(libc.fallocate(file.fileno(), mode, ctypes.c_long(0), size), end=" ")
    print(os.fstat(file.fileno()).st_blocks < 40_000, end=" ")
    os.posix_fallocate(file.fileno(), 0, 1_000_000)
print([libc.syscall(number, *(ctypes.c_long(0),) * 6) for number in %r], libc.personality(0x400000))
"""


@pytest.mark.sandbox
@pytest.mark.skipif(seccomp.here() is None, reason="this machine has no filters of system calls")
def test_a_sandbox_rejects_them(lab: Any) -> None:
    column = list(ARCH).index(os.uname().machine)
    numbers = [seccomp._NUMBERS[call][column] for call in ("mbind", "set_mempolicy", "move_pages")]
    _, output = lab.run(argv=("python3", "-c", PLACE % numbers), disk=20_000_000)
    assert output == "-1 -1 -1 True [-1, -1, -1] -1\n"
