"""Sees what code does while it runs: files written or opened, processes started, connections made."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_DEEDS = {
    **dict.fromkeys(("os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.link", "os.symlink"), "writes"),
    **dict.fromkeys(("os.chmod", "os.chown", "os.truncate", "os.utime"), "writes"),
    **dict.fromkeys(("subprocess.Popen", "os.system", "os.posix_spawn", "os.fork", "os.exec"), "starts a process"),
    **dict.fromkeys(("socket.connect", "socket.bind", "socket.sendto", "socket.getaddrinfo"), "uses the network"),
}
_own = threading.local()  # .deeds: the list of the watched thread
_below: tuple[str, list[str]] | None = None  # a folder, and what was opened in it, by any thread
_installed = threading.Lock()


@contextmanager
def watched() -> Iterator[list[str]]:
    """The list gets each side effect of this thread: "writes /tmp/x", "starts a process: git"; reading is none."""
    _install()
    _own.deeds = []
    try:
        yield _own.deeds
    finally:
        _own.deeds = None


@contextmanager
def opened_below(folder: Path) -> Iterator[list[str]]:
    """The list grows by what any thread opens or lists in a folder. Not for two at once."""
    global _below
    _install()
    seen: list[str] = []
    _below = (str(folder), seen)
    try:
        yield seen
    finally:
        _below = None


def _install() -> None:
    """Audit hooks stay until the process ends, so one is enough."""
    if _installed.acquire(blocking=False):
        sys.addaudithook(_hook)


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    if _below and event in ("open", "os.listdir", "os.scandir") and str(arguments[0]).startswith(_below[0]):
        _below[1].append(str(arguments[0]))
    deeds = getattr(_own, "deeds", None)
    if deeds is None:
        return
    if event == "open":
        path, _, flags = arguments
        if isinstance(path, int):  # a descriptor, which was seen when it was opened
            return
        if isinstance(flags, int) and flags & _WRITES and "__pycache__" not in str(path) and path != os.devnull:
            deeds.append(f"writes {path}")
    elif event in _DEEDS and "__pycache__" not in str(arguments[:1]):
        deeds.append(f"{_DEEDS[event]}: {event} {arguments[0] if arguments else ''}".rstrip())
