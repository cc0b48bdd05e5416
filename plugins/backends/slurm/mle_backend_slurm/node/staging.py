"""Public data copied to the node's own disk, each file's hash compared, and removed with the job that needed it."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mlecore import files
from mlecore.backends import Job
from mlecore.data import manifest
from mlecore.errors import BackendError

_CHUNK = 1 << 22
_PREFIX = "mlecore-data-"


@contextmanager
def data(job: Job, scratch: str) -> Iterator[Path]:
    """The folder with the job's data: where they are, or a copy below ``scratch``, whose variables are this node's."""
    public = Path(job.data)
    if not public.is_dir():
        raise BackendError(
            f"this node does not see the data of {job.dataset.competition} at {public}",
            fix="Put them on a file system that the nodes share (mlecore prepare --data DIR).",
        )
    if not scratch:
        yield public
        return
    folder = Path(os.path.expandvars(scratch))
    if "$" in str(folder) or not folder.is_dir():
        raise BackendError(f"-B scratch={scratch} is no folder on this node", fix="Name a folder on the nodes' disks.")
    _sweep(folder)
    own = folder / f"{_PREFIX}{job.name}"
    own.mkdir(mode=0o711)
    lock = os.open(own, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        copy = own / "public"
        _copy(public, copy)
        yield copy
    finally:
        files.remove(own)
        os.close(lock)


def _sweep(folder: Path) -> None:
    """Remove copies of this user's jobs that were killed with all their processes."""
    for left in folder.glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):
            if left.stat().st_uid != os.geteuid():
                continue
            lock = os.open(left, os.O_RDONLY)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # fails while its job is alive
                files.remove(left)
            finally:
                os.close(lock)


def _copy(public: Path, target: Path) -> None:
    """Raises BackendError if a file is not what the manifest says, or, where there is none, not what was read."""
    known = _known(public)
    for top, folders, names in os.walk(public):
        inside = target / Path(top).relative_to(public)
        inside.mkdir()
        inside.chmod(0o755)
        for name in (*folders, *names):
            path = Path(top, name)
            if path.is_symlink() or not (path.is_file() or path.is_dir()):
                raise BackendError(f"{path} is neither a file nor a folder; public data contain no others")
        for name in names:
            path = Path(top, name)
            read = _copy_file(path, inside / name)
            expected = known.get(path.relative_to(public).as_posix(), read) if known is not None else read
            if read != expected or _sha256(inside / name) != expected:
                raise BackendError(
                    f"{path} was copied to this node and is not what its manifest says",
                    fix="Have the data verified (mlecore prepare), and the node's disk.",
                )
    if known is not None and (missing := [path for path in known if not (target / path).is_file()]):
        raise BackendError(f"{public} has no {missing[0]}, which its manifest lists", fix="Prepare the data again.")


def _known(public: Path) -> dict[str, str] | None:
    """The SHA-256 of each file, by the manifest beside the public data."""
    root = public.parent
    if public.name != "public" or manifest.read_head(root) is None:
        return None
    listed = (entry for entry in manifest.read_files(root) if entry.path.startswith("public/"))
    return {entry.path.removeprefix("public/"): entry.sha256 for entry in listed}


def _copy_file(source: Path, target: Path) -> str:
    """The SHA-256 of what was read."""
    digest = hashlib.sha256()
    with source.open("rb") as given, target.open("xb") as out:
        while chunk := given.read(_CHUNK):
            digest.update(chunk)
            out.write(chunk)
    target.chmod(0o444)
    return digest.hexdigest()


def _sha256(path: Path) -> str:
    with path.open("rb") as source:
        return hashlib.file_digest(source, "sha256").hexdigest()
