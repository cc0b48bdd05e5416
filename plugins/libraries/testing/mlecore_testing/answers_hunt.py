"""A program that hunts for answers from inside a sandbox, and for ways out of it.

It knows the answers by their digests only, so that it does not find itself::

    printed = ...  # of program(data), run in the sandbox by python3
    assert found(printed).answers == ()
"""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from attrs import frozen

from mlecore.data.prepared import Prepared

_SHORTEST = 6  # bytes of a line that can give something away
_LINES = 100  # of each competition
_MARK = "mlecore-hunt: "

_PROGRAM = r'''
import hashlib, json, os, socket, stat
lines, files, paths, addresses = json.loads(r"""%s""")
looked, answers, reached = 0, [], []
def digest(content):
    return hashlib.sha256(content).hexdigest()[:16]
def look(path):
    global looked
    try:
        facts = os.stat(path)
        if not stat.S_ISREG(facts.st_mode) or facts.st_size > 2**28:
            return
        with open(path, "rb") as source:
            content = source.read()
    except OSError:
        return
    looked += 1
    if digest(content) in files or any(digest(line.strip()) in lines for line in content.splitlines()):
        answers.append(path)
for folder, names, inside in os.walk("/"):
    if folder == "/":
        names[:] = [name for name in names if name not in ("proc", "sys", "dev", "usr", "lib", "lib64")]
    for name in inside:
        look(os.path.join(folder, name))
for process in filter(str.isdigit, os.listdir("/proc")):
    try:
        for name in ("environ", "cmdline", *("fd/" + number for number in os.listdir(f"/proc/{process}/fd"))):
            look(f"/proc/{process}/{name}")
        if not os.path.samefile(f"/proc/{process}/root", "/"):
            reached.append(f"/proc/{process}/root")
    except OSError:
        pass
reached += filter(os.path.lexists, paths)
for host, port in addresses:
    try:
        socket.create_connection((host, port), timeout=1).close()
        reached.append(f"{host}:{port}")
    except OSError:
        pass
print("mlecore-hunt: " + json.dumps([looked, answers, reached]))
'''

_SOCKETS = ("/run/docker.sock", "/var/run/docker.sock", "/run/containerd/containerd.sock")


@frozen
class Found:
    looked: int  # files
    answers: Sequence[str]  # files with answers in them
    reached: Sequence[str]  # folders, sockets and addresses outside


def program(*data: Prepared, addresses: Sequence[tuple[str, int]] = ()) -> str:
    """In Python's standard library. It reads each file outside /usr, and tries to connect to the addresses."""
    lines = [line for one in data for line in sorted(_lines(one))[:_LINES]]
    files = [digest for one in data for digest in sorted(_whole(one.private) - _whole(one.public))]
    paths = [*_SOCKETS, *(str(path) for one in data for path in (one.root, one.private))]
    return _PROGRAM % json.dumps([lines, files, paths, addresses])


def found(printed: str) -> Found:
    """Raises AssertionError if the program did not reach its end."""
    ends = [line for line in printed.splitlines() if line.startswith(_MARK)]
    assert ends, printed[-2000:]
    return Found(*json.loads(ends[-1].removeprefix(_MARK)))


def _lines(data: Prepared) -> set[str]:
    """Digests of those lines of the answers that the public data do not have."""
    public = {line.strip() for content in _contents(data.public) for line in content.splitlines()}
    answers = {line.strip() for content in _contents(data.private) for line in content.splitlines()[1:]}
    return {_digest(line) for line in answers - public if len(line) >= _SHORTEST}


def _whole(folder: Path) -> set[str]:
    return {_digest(content) for content in _contents(folder)}


def _contents(folder: Path) -> Iterator[bytes]:
    """The contents of every file, and of every member of an archive."""
    for path in filter(Path.is_file, folder.rglob("*")):
        yield path.read_bytes()
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as packed:
                yield from map(packed.read, packed.namelist())


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]
