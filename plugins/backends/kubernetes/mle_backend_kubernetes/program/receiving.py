"""Receiving public data. What was received whole is noted in a journal, so that nothing is sent twice."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from typing import IO, Any, Iterator

from mle_backend_kubernetes.program.messages import BLOCK, CLAIM, DATA, beat, flush, hear, hear_bytes, say

JOURNAL = ".mlecore-received"


def receive() -> int:
    """Receive files, and send the digest of all of them."""
    with open(CLAIM + "/" + JOURNAL + ".lock", "a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # of two that send the same data, one waits and then has nothing to send
        os.umask(0o022)
        with open(CLAIM + "/" + JOURNAL, "a+", encoding="ascii") as journal:
            there = _received(journal)
    digest = hashlib.sha256()
    for path in sorted(there):
        size, sha256 = there[path]
        digest.update(path.encode("utf-8", "surrogateescape") + ("\0%d\0%s\n" % (size, sha256)).encode())
    os.sync()
    say({"digest": digest.hexdigest(), "files": len(there)})
    return 0


def _received(journal: IO[str]) -> dict[str, tuple[int, str]]:
    """Size and digest of every file, once all have been received."""
    there = {}
    for path, found in _journal(journal):
        there[path] = found
        beat()
    say({"there": {path: size for path, (size, _) in there.items()}})
    flush()
    while True:
        message = hear()
        if message.get("end"):
            return there
        _take(message, there, journal)


def _journal(journal: IO[str]) -> Iterator[tuple[str, tuple[int, str]]]:
    """The complete files. Each is hashed again, as it may be shorter than recorded after a crash of the node.

    A line of the journal that was cut off is closed.
    """
    journal.seek(0)
    text = journal.read()
    if text and not text.endswith("\n"):
        journal.write("\n")
    for line in text.splitlines():
        try:
            path, size, sha256 = json.loads(line)
            digest = hashlib.sha256()
            with open(os.path.join(CLAIM, "public", path), "rb") as file:
                for content in iter(lambda: file.read(BLOCK), b""):
                    digest.update(content)
                    beat()
        except (ValueError, OSError):
            continue
        if digest.hexdigest() == sha256:
            yield path, (size, sha256)


def _take(message: dict[str, Any], there: dict[str, tuple[int, str]], journal: IO[str]) -> None:
    path, left = str(message["path"]), int(message["size"])
    target = os.path.join(CLAIM, "public", path)
    partial = os.path.join(CLAIM, JOURNAL + ".partial")
    os.makedirs(os.path.dirname(target), exist_ok=True)
    digest = hashlib.sha256()
    with open(partial, "wb") as out:
        while left > 0:
            content = hear_bytes(left)
            out.write(content)
            digest.update(content)
            left -= len(content)
    os.replace(partial, target)
    there[path] = int(message["size"]), digest.hexdigest()
    journal.write(json.dumps([path, *there[path]]) + "\n")
    journal.flush()


def sizes() -> int:
    """Send the size of every file of the public data."""
    for above, _, names in os.walk(DATA):
        for name in names:
            path = os.path.join(above, name)
            say({"path": os.path.relpath(path, DATA), "size": os.stat(path).st_size})
    say({"end": True})
    return 0
