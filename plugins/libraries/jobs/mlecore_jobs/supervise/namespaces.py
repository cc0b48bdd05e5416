"""The namespaces of a sandbox, from outside: are they all there, and how a program of the machine gets into one."""

from __future__ import annotations

import fcntl
import os

_NS_GET_USERNS = 0xB701


def is_whole(init: int, home: str) -> bool:
    """Is the sandbox made, with ``home`` in its place? Until then its first process still sees the whole machine."""
    try:
        return os.path.samefile(f"/proc/{init}/root/home", home)  # noqa: PTH121
    except OSError:
        return False


class Way:
    """Into a sandbox, for a program outside that inherits these descriptors; ``argv`` comes before its own."""

    def __init__(self, descriptors: list[int], argv: list[str]) -> None:
        self.descriptors = descriptors
        self.argv = argv

    def inherit(self) -> None:
        """In a child, before it becomes the program."""
        for descriptor in self.descriptors:
            os.set_inheritable(descriptor, True)

    def close(self) -> None:
        while self.descriptors:
            os.close(self.descriptors.pop())


class Entrance(Way):
    """For a program that is to run in one namespace of a sandbox and nothing else of it.

    Into the namespace of a kind ("net", "ipc") that the process ``init`` has. Raises OSError if that has ended."""

    def __init__(self, init: int, kind: str) -> None:
        namespace = os.open(f"/proc/{init}/ns/{kind}", os.O_RDONLY | os.O_CLOEXEC)
        super().__init__([namespace], ["nsenter", "--preserve-credentials", f"--{kind}=/proc/self/fd/{namespace}"])
        if os.geteuid() != 0:  # its owner is not the namespace of the sandbox's user, but the one above
            self.descriptors.append(fcntl.ioctl(self.descriptors[0], _NS_GET_USERNS))
            self.argv.append(f"--user=/proc/self/fd/{self.descriptors[1]}")
