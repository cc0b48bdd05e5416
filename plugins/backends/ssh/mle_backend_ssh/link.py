"""How a command runs on a host."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager
from typing import IO

from attrs import frozen


@frozen(kw_only=True)
class Channel:
    """A command that runs on a host."""

    stdin: IO[bytes]
    out: IO[bytes]  # both of its output streams


class Link(ABC):
    """One host. Thread-safe."""

    name: str

    @abstractmethod
    def run(self, command: str) -> AbstractContextManager[Channel]:
        """Run a command of the host's shell until the context ends.

        Raises BackendUnreachable if the host does not answer, BackendError if it refuses the login.
        """
