"""The system calls that a sandbox may not make: a filter in the kernel's BPF, for bubblewrap's ``--seccomp``.

The measure is Docker's default profile for containers without capabilities. Where that lists what is allowed, this
lists what is rejected, so that a new program needs no new profile; calls younger than the list are unknown to it and
get ENOSYS, as if the kernel were older. Beyond Docker's: a job may not touch its first process, which keeps its time,
may open sockets only of families that a network namespace keeps apart, and may not allocate memory that is counted as
nobody's.

Standard library only: libseccomp is not on every machine, and its Python binding needs it. The backend ``kubernetes``
uses it in its pods, too.
"""

from __future__ import annotations

import errno
import os
import struct
import sys
from collections.abc import Iterable, Mapping
from typing import Tuple  # noqa: UP035

NEWEST = 466  # removexattrat, Linux 6.13; from 424 on, calls have the same number everywhere

_AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_X32 = 0x40000000  # calls of x86-64 with 32-bit pointers: Linux has them, hardly a program does

# Call -> its number under (x86-64, aarch64); None: there is no such call.
_NUMBERS: Mapping[str, tuple[int | None, int | None]] = {
    "_sysctl": (156, None),
    "acct": (163, 89),
    "add_key": (248, 217),
    "bpf": (321, 280),
    "chroot": (161, 51),
    "clock_adjtime": (305, 266),
    "clock_settime": (227, 112),
    "clone": (56, 220),
    "clone3": (435, 435),
    "create_module": (174, None),
    "delete_module": (176, 106),
    "fallocate": (285, 47),
    "fanotify_init": (300, 262),
    "finit_module": (313, 273),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fsopen": (430, 430),
    "fspick": (433, 433),
    "get_kernel_syms": (177, None),
    "get_mempolicy": (239, 236),
    "init_module": (175, 105),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "io_uring_setup": (425, 425),
    "ioctl": (16, 29),
    "ioperm": (173, None),
    "iopl": (172, None),
    "kcmp": (312, 272),
    "kexec_file_load": (320, 294),
    "kexec_load": (246, 104),
    "keyctl": (250, 219),
    "lookup_dcookie": (212, 18),
    "lsm_get_self_attr": (459, 459),
    "lsm_list_modules": (461, 461),
    "lsm_set_self_attr": (460, 460),
    "mbind": (237, 235),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "migrate_pages": (256, 238),
    "mmap": (9, 222),
    "mount": (165, 40),
    "mount_setattr": (442, 442),
    "move_mount": (429, 429),
    "move_pages": (279, 239),
    "nfsservctl": (180, 42),
    "open_by_handle_at": (304, 265),
    "open_tree": (428, 428),
    "perf_event_open": (298, 241),
    "personality": (135, 92),
    "pidfd_getfd": (438, 438),
    "pivot_root": (155, 41),
    "prlimit64": (302, 261),
    "process_madvise": (440, 440),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "ptrace": (101, 117),
    "query_module": (178, None),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "reboot": (169, 142),
    "request_key": (249, 218),
    "set_mempolicy": (238, 237),
    "set_mempolicy_home_node": (450, 450),
    "setdomainname": (171, 162),
    "sethostname": (170, 161),
    "setns": (308, 268),
    "settimeofday": (164, 170),
    "shmget": (29, 194),
    "socket": (41, 198),
    "socketpair": (53, 199),
    "swapoff": (168, 225),
    "swapon": (167, 224),
    "sysfs": (139, None),
    "syslog": (103, 116),
    "umount2": (166, 39),
    "unshare": (272, 97),
    "uselib": (134, None),
    "userfaultfd": (323, 282),
    "ustat": (136, None),
    "vhangup": (153, 58),
}

_REFUSED = (
    # The kernel's keyrings belong to users, not to namespaces: a run could read the controller's keys, or leave some.
    *("add_key", "keyctl", "request_key"),
    # Large parts of the kernel that were the way out of sandboxes again and again.
    *("bpf", "io_uring_setup", "io_uring_enter", "io_uring_register", "userfaultfd", "perf_event_open"),
    # Other namespaces and mounts. In a user namespace of its own a process has all capabilities again, could mount
    # memory that nobody counts, and would be out of sight of the rules about init below.
    *("setns", "mount", "umount2", "pivot_root", "chroot", "fsopen", "fsconfig", "fsmount", "fspick"),
    *("move_mount", "open_tree", "mount_setattr"),
    # On which of the machine's memory banks pages lie, also those of other jobs' files, and advice on others' memory.
    *("mbind", "get_mempolicy", "set_mempolicy", "set_mempolicy_home_node", "migrate_pages", "move_pages"),
    "process_madvise",
    # Memory that no process is charged with: the kernel, short of memory, cannot tell who has it.
    "memfd_secret",
    # Other processes' descriptors and kernel objects, and files by number instead of by path.
    *("pidfd_getfd", "kcmp", "open_by_handle_at", "lookup_dcookie"),
    # The machine: modules, kernels, clocks, names, swap, quotas, ports, its log. All want capabilities that no job has.
    *("init_module", "finit_module", "delete_module", "create_module", "query_module", "get_kernel_syms"),
    *("kexec_load", "kexec_file_load", "reboot", "clock_settime", "clock_adjtime", "settimeofday"),
    *("sethostname", "setdomainname", "swapon", "swapoff", "acct", "quotactl", "quotactl_fd", "ioperm", "iopl"),
    *("syslog", "vhangup", "fanotify_init", "nfsservctl", "sysfs", "ustat", "uselib", "_sysctl"),
    *("lsm_get_self_attr", "lsm_set_self_attr", "lsm_list_modules"),
)

# CLONE_NEWNS, _NEWCGROUP, _NEWUTS, _NEWIPC, _NEWUSER, _NEWPID, _NEWNET; and _NEWTIME, which for clone is a signal's bit
_NAMESPACES = 0x00020000 | 0x02000000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000
_NEWTIME = 0x80

# AF_UNIX, AF_INET, AF_INET6, AF_NETLINK, AF_PACKET (which wants a capability). Others reach the hypervisor (AF_VSOCK)
# or parts of the kernel that know no namespaces (AF_ALG ...).
_FAMILIES = (1, 2, 10, 16, 17)

# Pages of the machine's pool of huge ones, which count neither as a process's memory nor as a cgroup's.
_MFD_HUGETLB, _MAP_HUGETLB, _SHM_HUGETLB = 0x4, 0x40000, 0o4000

_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C  # types into the terminal that started us

# Room for a file beyond its end, to which RLIMIT_FSIZE does not apply: all modes of fallocate but a plain extension
# and holes (with a size that stays); and FS_IOC_RESVSP, FS_IOC_RESVSP64, FS_IOC_ZERO_RANGE, the same as ioctls.
_EXTEND, _PUNCH = 0, 0x3
_RESERVE = (0x40305828, 0x4030582A, 0x40305839)

# PER_LINUX, PER_LINUX32, each also with UNAME26, and the question which it is. Others make memory executable
# (READ_IMPLIES_EXEC) or predictable (ADDR_NO_RANDOMIZE).
_PERSONALITIES = (0x0, 0x8, 0x20000, 0x20008, 0xFFFFFFFF)

_INIT = 1  # its number inside, and without namespaces of their own all that a job can say means that one

# Classic BPF: code, jump if true, jump if false, constant.
_LOAD, _EQUAL, _OVER, _AND, _RETURN = 0x20, 0x15, 0x25, 0x54, 0x06
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_NR, _ARCH = 0, 4  # offsets in struct seccomp_data
_Line = Tuple[int, int, int, int]  # noqa: UP006 - Python 3.8, in the images of a cluster


def here() -> bytes | None:
    """The filter for this machine; None if there is none, or its kernel takes none."""
    if sys.platform != "linux":
        return None
    machine = os.uname().machine
    known = machine in _AUDIT_ARCH and os.path.exists("/proc/sys/kernel/seccomp/actions_avail")  # noqa: PTH110
    return program(machine) if known else None


def program(machine: str) -> bytes:
    """The filter for an architecture. Raises KeyError for one that has none."""
    arch = _AUDIT_ARCH[machine]
    column = list(_AUDIT_ARCH).index(machine)
    lines: list[_Line] = [
        (_LOAD, 0, 0, _ARCH),
        (_EQUAL, 1, 0, arch),  # programs of 32 bits, whose calls have other numbers
        _refuse(errno.ENOSYS),
        (_LOAD, 0, 0, _NR),
        (_OVER, 0, 1, NEWEST),  # x32's calls are beyond it, too
        _refuse(errno.ENOSYS),
    ]
    assert NEWEST < _X32
    for call, decision in _rules().items():
        number = _NUMBERS[call][column]
        if number is not None:
            lines += [(_EQUAL, 0, len(decision), number), *decision]
    lines.append((_RETURN, 0, 0, _ALLOW))
    return b"".join(struct.pack("=HBBI", *line) for line in lines)


def _rules() -> dict[str, list[_Line]]:
    """What to do about each call; every list ends with a return."""
    no = [_refuse(errno.EPERM)]
    rules = dict.fromkeys(_REFUSED, no)
    rules["clone3"] = [_refuse(errno.ENOSYS)]  # its flags lie in memory; C libraries then use clone
    rules["clone"] = _if_bits(_argument(0), _NAMESPACES, errno.EPERM)
    rules["unshare"] = _if_bits(_argument(0), _NAMESPACES | _NEWTIME, errno.EPERM)
    # As the kernel answers a process that may not use huge pages; allocators then take ordinary ones.
    rules["memfd_create"] = _if_bits(_argument(1), _MFD_HUGETLB, errno.EPERM)
    rules["mmap"] = _if_bits(_argument(3), _MAP_HUGETLB, errno.EPERM)
    rules["shmget"] = _if_bits(_argument(2), _SHM_HUGETLB, errno.EPERM)
    rules["socket"] = rules["socketpair"] = _unless_any(_argument(0), _FAMILIES, errno.EAFNOSUPPORT)
    rules["ioctl"] = _if_any(_argument(1), (_TIOCSTI, _TIOCLINUX, *_RESERVE), errno.EPERM)
    rules["fallocate"] = _unless_any(_argument(1), (_EXTEND, _PUNCH), errno.EOPNOTSUPP)  # as file systems without it
    rules["personality"] = _unless_any(_argument(0), _PERSONALITIES, errno.EPERM)
    rules["ptrace"] = _if_any(_argument(1), (_INIT,), errno.EPERM)
    rules["process_vm_readv"] = rules["process_vm_writev"] = _if_any(_argument(0), (_INIT,), errno.EPERM)
    rules["prlimit64"] = [  # to read them is fine: the third argument, where the new ones are, is no address then
        _argument(0),
        (_EQUAL, 0, 4, _INIT),
        _argument(2),
        (_EQUAL, 0, 3, 0),
        _argument(2, high=True),
        (_EQUAL, 0, 1, 0),
        (_RETURN, 0, 0, _ALLOW),
        _refuse(errno.EPERM),
    ]
    return rules


def _argument(number: int, *, high: bool = False) -> _Line:
    """Load half of an argument: of an int, the kernel looks at the lower half only. Both machines are little-endian."""
    return (_LOAD, 0, 0, 16 + 8 * number + 4 * high)


def _refuse(number: int) -> _Line:
    return (_RETURN, 0, 0, _ERRNO | number)


def _if_any(load: _Line, values: Iterable[int], number: int) -> list[_Line]:
    lines = [load]
    for value in values:
        lines += [(_EQUAL, 0, 1, value), _refuse(number)]
    return [*lines, (_RETURN, 0, 0, _ALLOW)]


def _unless_any(load: _Line, values: Iterable[int], number: int) -> list[_Line]:
    lines = [load]
    for value in values:
        lines += [(_EQUAL, 0, 1, value), (_RETURN, 0, 0, _ALLOW)]
    return [*lines, _refuse(number)]


def _if_bits(load: _Line, bits: int, number: int) -> list[_Line]:
    return [load, (_AND, 0, 0, bits), (_EQUAL, 1, 0, 0), _refuse(number), (_RETURN, 0, 0, _ALLOW)]
