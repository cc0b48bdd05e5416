"""Programs that run beside a job for as long as it lives, such as its relay; one that dies is started again."""

from __future__ import annotations

import contextlib
import os
import re
import select
import signal
import time
from collections.abc import Sequence

from . import processes
from .namespaces import Way

_READY = 20.0  # seconds
_DIE_WITH_US = ["setpriv", "--pdeathsig=KILL"]


class Program:
    """What to start. ``ready`` matches what it has said on standard error, its descriptor 2, once it is."""

    def __init__(self, argv: Sequence[str], ready: bytes, given: bytes = b"") -> None:
        self.argv = [*_DIE_WITH_US, *argv]
        self.ready = re.compile(ready)
        self.given = given  # on its standard input


class Helpers:
    """Of one job. They start in ``folder`` and inherit the descriptors of ``way``."""

    def __init__(self, folder: str, programs: Sequence[Program], way: Way) -> None:
        self._folder = folder
        self._programs = programs
        self._way = way
        self._pids: list[int] = []

    def start(self) -> None:
        """All are ready when it returns. Raises RuntimeError with what the one that failed said."""
        for program in self._programs:
            pid, said = self._spawn(program)
            self._pids.append(pid)
            heard = b""
            limit = time.monotonic() + _READY
            while not program.ready.search(heard):
                ready, _, _ = select.select([said], [], [], max(0.0, limit - time.monotonic()))
                more = os.read(said, 4096) if ready else b""
                heard += more
                if not more:
                    os.close(said)
                    self.stop()
                    words = heard.decode(errors="replace")[-300:].strip()
                    why = words if ready else f"not ready after {_READY:g} s: {' '.join(program.argv)} {words}".rstrip()
                    raise RuntimeError(f"the sandbox could not be connected to its network: {why}")
            os.close(said)

    def _spawn(self, program: Program, listen: bool = True) -> tuple[int, int]:
        """Its number, and the pipe on which it says that it is ready; later output is dropped."""
        said, say = os.pipe()
        stdin = os.memfd_create("settings", os.MFD_CLOEXEC)  # not on a disk
        os.write(stdin, program.given)
        os.lseek(stdin, 0, os.SEEK_SET)
        pid = os.fork()
        if pid == 0:
            try:
                signal.set_wakeup_fd(-1)
                null = os.open("/dev/null", os.O_RDWR)
                os.dup2(stdin, 0)
                os.dup2(null, 1)
                os.dup2(say if listen else null, 2)
                self._way.inherit()
                os.chdir(self._folder)
                signal.signal(signal.SIGPIPE, signal.SIG_IGN)
                os.execvpe(
                    program.argv[0],
                    program.argv,
                    {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C.UTF-8"},
                )
            except BaseException as error:
                os.write(2, f"{program.argv[0]}: {error}\n".encode())
            finally:
                os._exit(126)
        os.close(say)
        os.close(stdin)
        return pid, said

    def repair(self) -> None:
        """Start again what has died."""
        for index, pid in enumerate(self._pids):
            ended = 0
            with contextlib.suppress(ChildProcessError):
                ended = os.waitpid(pid, os.WNOHANG)[0]
            if ended:
                fresh, said = self._spawn(self._programs[index], listen=False)
                os.close(said)
                self._pids[index] = fresh

    def stop(self) -> None:
        for pid in self._pids:
            processes.send(pid, signal.SIGTERM)
        limit = time.monotonic() + 3.0
        for pid in self._pids:
            with contextlib.suppress(ChildProcessError):
                while not os.waitpid(pid, os.WNOHANG)[0]:
                    if time.monotonic() > limit:
                        processes.send(pid, signal.SIGKILL)
                    time.sleep(0.01)
        self._pids = []
        self._way.close()
