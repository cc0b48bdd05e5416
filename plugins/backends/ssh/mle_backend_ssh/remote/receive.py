"""Public data of a competition, received once a host: resumed where a connection broke, verified file by file.

They lie in ``data/<competition>-<digest>``, which gets that name when it is complete, and nobody may write there.
Until then it is ``....partial``, where a file that has not arrived completely ends in ``SUFFIX``.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import IO

from mle_backend_ssh.remote import wire
from mlecore.errors import BackendError, DiskError
from mlecore.util import files
from mlecore_jobs.supervise.files import sync_disk
from mlecore_jobs.supervise.processes import boot_id
from mlecore_sandboxes import folders

SUFFIX = ".mlecore-part"
_SILENCE = 20  # seconds without a byte of content after which the alarm ends us, which unlocks the data. The controller
# notices that the link was cut later than that, and finds them unlocked.
_LISTED = 3600  # seconds until the next line of the list: data without a manifest are read for it
_PIECE = 64 * 1024  # bytes that are read at once
_TURN = 5.0  # seconds between signs of life for a controller that waits for another one's transfer


def receive(given: IO[bytes], out: IO[bytes], root: Path, name: str) -> str:
    """The folder ``name`` with what the controller sends; it does not send what is here.

    The controller sends a line for each file (``path``, ``bytes``, ``sha256``), then an empty object; it is answered
    with the files that are wanted, and from which byte on; then it sends their content, one after the other.
    """
    folder = folders.make_private(root / "data") / PurePosixPath(name).name
    if folder.is_dir():
        wire.write(out, {"kind": "complete"})
        return str(folder)
    wire.write(out, {"kind": "send the list"})
    listed = _listed(given)
    with _alone(folder, out):
        try:
            if folder.is_dir():  # since another controller sent it
                wire.write(out, {"kind": "wanted"})
            else:
                _complete(folder, listed, given, out)
        except OSError as error:
            raise DiskError(
                f"data cannot be written to {folder}: {error.strerror}", fix="Free some disk space on this host."
            ) from None
    return str(folder)


def _listed(given: IO[bytes]) -> dict[str, tuple[int, str]]:
    """Path -> size and SHA-256. Nothing is locked meanwhile: the controller may have to read all files for it."""
    listed: dict[str, tuple[int, str]] = {}
    while True:
        signal.alarm(_LISTED)
        head, _ = wire.read(given)
        signal.alarm(0)
        if not head:
            return listed
        listed[_checked(head["path"])] = (int(head["bytes"]), str(head["sha256"]))


def _complete(folder: Path, listed: dict[str, tuple[int, str]], given: IO[bytes], out: IO[bytes]) -> None:
    partial = folder.with_name(f"{folder.name}.partial")
    partial.mkdir(exist_ok=True)
    _forget_if_rebooted(partial)
    wanted = []
    for number, (path, (size, _)) in enumerate(listed.items()):
        offset = _there(partial / path, size)
        if offset is not None:
            wanted.append((path, offset))
            wire.write(out, {"kind": "want", "number": number, "from": offset})
    wire.write(out, {"kind": "wanted"})
    try:
        damaged = [path for path, offset in wanted if not _take(partial / path, offset, *listed[path], given)]
    finally:
        signal.alarm(0)
    if damaged:
        raise BackendError(
            f"{len(damaged)} files arrived damaged, {damaged[0]} among them",
            fix="Have the data verified here (mlecore prepare), then try again.",
        )
    _make_read_only(partial)
    sync_disk(str(partial))
    partial.rename(folder)
    _note(partial).unlink()


def _checked(path: str) -> str:
    parts = PurePosixPath(path).parts
    if not parts or ".." in parts or path.startswith("/") or path.endswith(SUFFIX):
        raise BackendError(f"{path!r} cannot be a file of a competition's public data")
    return path


def _there(target: Path, size: int) -> int | None:
    """From which byte on a file is missing; None: it is complete."""
    with contextlib.suppress(FileNotFoundError):
        if target.stat().st_size == size:
            return None
        target.unlink()
    part = target.with_name(target.name + SUFFIX)
    try:
        have = part.stat().st_size
    except FileNotFoundError:
        return 0
    return have if have <= size else 0


def _take(target: Path, offset: int, size: int, sha256: str, given: IO[bytes]) -> bool:
    """Receive the rest of a file. False: it is not what was announced, and is not kept."""
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(target.name + SUFFIX)
    digest = hashlib.sha256()
    with part.open("r+b" if offset else "w+b") as file:
        file.truncate(offset)
        while chunk := file.read(wire.CHUNK):
            signal.alarm(_SILENCE)
            digest.update(chunk)
        while offset < size:
            chunk = _bytes(given, min(size - offset, _PIECE))
            digest.update(chunk)
            file.write(chunk)
            offset += len(chunk)
    if digest.hexdigest() != sha256:
        part.unlink()
        return False
    part.rename(target)
    return True


def _bytes(given: IO[bytes], size: int) -> bytes:
    signal.alarm(_SILENCE)
    chunk: bytes = given.read1(size)  # type: ignore[attr-defined]  # what has come: on a slow link, a whole piece takes long
    if not chunk:
        raise wire.ConnectionBroken("the connection ended in the middle")
    return chunk


def _forget_if_rebooted(partial: Path) -> None:
    """After a power loss, files may have their names and lengths, but not their content."""
    note = _note(partial)
    boot = boot_id()
    if not note.exists() or note.read_text() != boot:
        files.remove(partial)
        partial.mkdir()
        note.write_text(boot)


def _note(partial: Path) -> Path:
    return partial.with_name(f"{partial.name}-boot")


def _make_read_only(folder: Path) -> None:
    """For every user: the agent's has no name here."""
    for top, _, names in os.walk(folder, topdown=False):
        for name in names:
            (Path(top) / name).chmod(0o444)
        Path(top).chmod(0o555)


@contextlib.contextmanager
def _alone(folder: Path, out: IO[bytes]) -> Iterator[None]:
    """While no other request receives the same data; the controller sees signs of life until then."""
    with folder.with_name(f"{folder.name}.lock").open("w") as lock:
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError:
                wire.write(out, {"kind": "waiting"})
                time.sleep(_TURN)
        yield
