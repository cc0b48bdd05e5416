"""Programs that run beside a job for as long as it lives, such as its relay; one that dies is started again."""

from __future__ import annotations

import contextlib
import os
import re
import select
import subprocess
import time
from collections.abc import Sequence

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
    """The helper programs of one job. They start in ``folder`` and inherit the descriptors of ``way``."""

    def __init__(self, folder: str, programs: Sequence[Program], way: Way) -> None:
        self._folder = folder
        self._programs = programs
        self._way = way
        self._processes: list[subprocess.Popen[bytes]] = []

    def start(self) -> None:
        """All are ready when it returns. Raises RuntimeError with what the one that failed said."""
        for program in self._programs:
            said, say = os.pipe()
            self._processes.append(self._spawn(program, say))
            os.close(say)
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

    def _spawn(self, program: Program, stderr: int) -> subprocess.Popen[bytes]:
        """It ignores SIGPIPE, as Python does: nobody reads what it says once it is ready."""
        stdin = os.memfd_create("settings", os.MFD_CLOEXEC)  # not on a disk
        os.write(stdin, program.given)
        os.lseek(stdin, 0, os.SEEK_SET)
        try:
            return subprocess.Popen(
                program.argv,
                stdin=stdin,
                stdout=subprocess.DEVNULL,
                stderr=stderr,
                cwd=self._folder,
                env={"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C.UTF-8"},
                pass_fds=self._way.descriptors,
                restore_signals=False,
            )
        finally:
            os.close(stdin)

    def repair(self) -> None:
        """Start again what has died."""
        for index, process in enumerate(self._processes):
            if process.poll() is not None:
                with contextlib.suppress(OSError):  # its folder was deleted, or there are too many processes
                    self._processes[index] = self._spawn(self._programs[index], subprocess.DEVNULL)

    def stop(self) -> None:
        for process in self._processes:
            process.terminate()
        limit = time.monotonic() + 3.0
        for process in self._processes:
            try:
                process.wait(max(0.0, limit - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._processes = []
        self._way.close()
