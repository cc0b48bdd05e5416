"""The filter of system calls: its numbers, what it decides on both architectures, and that sandboxes have it."""

from __future__ import annotations

import ctypes
import errno
import struct
from typing import Any

import pytest

from mlecore.sandbox import seccomp

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


@pytest.fixture(params=seccomp.architectures())
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


def test_a_jump_never_leaves_the_program(machine: str) -> None:
    lines = list(struct.iter_unpack("=HBBI", seccomp.program(machine)))
    assert len(lines) < 4096  # the kernel's bound
    for at, (code, yes, no, _) in enumerate(lines):
        assert code == 0x06 or at + 1 + max(yes, no) < len(lines)
    assert lines[-1][0] == 0x06


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


@pytest.mark.parametrize("call", seccomp._REFUSED)
def test_what_is_refused_is_refused_whatever_its_arguments(machine: str, call: str) -> None:
    if seccomp._NUMBERS[call][list(ARCH).index(machine)] is None:
        pytest.skip(f"{machine} has no {call}")
    assert decide(machine, call) == decide(machine, call, *(ONES,) * 6) == errno.EPERM


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


def test_an_architecture_that_is_not_known_has_none() -> None:
    with pytest.raises(KeyError):
        seccomp.program("riscv64")


@pytest.mark.sandbox
@pytest.mark.skipif(seccomp.here() is None, reason="this machine has no filters of system calls")
def test_every_process_of_a_sandbox_has_it(lab: Any) -> None:
    look = "grep -h '^Seccomp:' /proc/1/status /proc/self/status; unshare -U true"
    status, output = lab.run("/bin/sh", "-c", look)
    assert output.split()[:4] == ["Seccomp:", "2", "Seccomp:", "2"]
    assert status.exit_code and "Operation not permitted" in output
    assert lab.vm.describe().details["system_calls"] == "filtered"
