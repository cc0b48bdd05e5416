"""A Slurm cluster that may be broken: its commands, its servers and its nodes."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

PATIENCE = 240.0  # seconds until what a fault needs is there
LEFT = 30.0  # seconds that Slurm may take to end what was cancelled
AWAY = {
    "slurmctld": ("scontrol", "ping"),
    "slurmdbd": ("sacctmgr", "-n", "show", "cluster"),
    "munged": ("munge", "-n"),
}
T = TypeVar("T")


def slurm(*argv: str, check: bool = True) -> str:
    """What one of Slurm's commands prints."""
    return subprocess.run(argv, capture_output=True, text=True, check=check, timeout=60).stdout


def until(ready: Callable[[], T | None], what: str, seconds: float = PATIENCE) -> T:
    """The first true value of ``ready``."""
    limit = time.monotonic() + seconds
    while not (found := ready()):
        assert time.monotonic() < limit, f"waited in vain for: {what}"
        time.sleep(0.1)
    return found


def processes_with(*words: str) -> list[int]:
    """Those whose command line begins with the program of this name, or of this process's, and has the other words."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            argv = (folder / "cmdline").read_text().split("\0")
        except OSError:
            continue
        if Path(argv[0]).name == words[0] and all(any(word in each for each in argv) for word in words[1:]):
            found.append(int(folder.name))
    return found


class Server:
    """A server of Slurm that is killed, and later started as it was: with its command line, user and environment."""

    def __init__(self, *words: str) -> None:
        self.words = words
        pid = min(processes_with(*words))
        self._argv = Path(f"/proc/{pid}/cmdline").read_text().split("\0")[:-1]
        self._user, self._group = os.stat(f"/proc/{pid}").st_uid, os.stat(f"/proc/{pid}").st_gid  # noqa: PTH116

    def kill(self) -> None:
        for pid in processes_with(*self.words):
            os.kill(pid, signal.SIGKILL)
        until(lambda: not processes_with(*self.words), f"the end of {self.words}")

    def start(self) -> None:
        if processes_with(*self.words):
            return
        quiet = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
        subprocess.Popen(self._argv, user=self._user, group=self._group, start_new_session=True, cwd="/", **quiet)  # type: ignore[call-overload]
        if ask := AWAY.get(self.words[0]):
            until(lambda: subprocess.run(ask, capture_output=True, check=False).returncode == 0, f"{self.words[0]}")


@contextmanager
def away(*names: str) -> Iterator[None]:
    """Without these servers."""
    servers = [Server(name) for name in names]
    try:
        for server in servers:
            server.kill()
        yield
    finally:
        for server in reversed(servers):
            server.start()


def node_of(task: str) -> str:
    return slurm("squeue", "--noheader", "--job", task, "--format=%N").strip()


@contextmanager
def node_state(node: str, state: str) -> Iterator[None]:
    """A node that an administrator takes out of service."""
    slurm("scontrol", "update", f"nodename={node}", f"state={state}", "reason=test")
    try:
        yield
    finally:
        slurm("scontrol", "update", f"nodename={node}", "state=resume", check=False)  # it may be back by itself
