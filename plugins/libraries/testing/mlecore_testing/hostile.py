"""Folders as a hostile agent could leave them: links, pipes, noise, broken numbers."""

from __future__ import annotations

import json
import os
import random
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

_DEPTH = 5000  # of nested lists: deeper than Python recurses


class TookTooLong(Exception):
    """The call did not return in time."""


def fill(folder: Path) -> None:
    """Put odd files into an existing folder, under the names of logs."""
    noise = random.Random(0).randbytes(1 << 16)
    (folder / "noise.log").write_bytes(noise)
    (folder / "empty.log").touch()
    (folder / "empty.json").touch()
    (folder / "deep.json").write_text("[" * _DEPTH + "]" * _DEPTH)
    (folder / "broken.json").write_text('{"usage": {"input_tokens": 1')
    (folder / "list.json").write_text("[1, null, {}]")
    (folder / "usage.json").write_text(_lies())
    (folder / "events.jsonl").write_text(f"{_lies()}\nnot json\n\x00\n[]\n{_lies()}\n")
    (folder / "long.log").write_bytes(b"x" * (8 << 20))
    with (folder / "sparse.log").open("wb") as file:
        file.truncate(1 << 40)
    (folder / "escape.log").write_bytes(b"\x1b[2J\x1b]0;owned\x07\r\n\xff\xfe")
    (folder / "passwd.log").symlink_to("/etc/passwd")
    (folder / "nowhere.log").symlink_to("no-such-file")
    (folder / "loop").symlink_to(".")
    (folder / "folder.json").mkdir()
    os.mkfifo(folder / "pipe.log")
    os.mkfifo(folder / "pipe.json")


def _lies() -> str:
    values = {"input_tokens": -5, "output_tokens": "many", "total_cost_usd": float("nan"), "cost_usd": 1e999}
    return json.dumps({"usage": {**values, "model": ["a", {}]}, "model": "\x1b[31mred", **values})


def in_time(work: Callable[[], T], seconds: float) -> T:
    """What ``work`` returns or raises; TookTooLong if it hangs, for example on a pipe without a writer."""
    got: list[T] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            got.append(work())
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    if thread.is_alive():
        raise TookTooLong(f"it did not return within {seconds:.0f} s")
    if failed:
        raise failed[0]
    return got[0]
