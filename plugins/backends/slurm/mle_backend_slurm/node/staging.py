"""Public data copied to the node's own disk, each file's hash compared, and removed with the job that needed it."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mle_backend_slurm.sharing import copy_public
from mlecore.errors import BackendError
from mlecore.model.backends import Job
from mlecore.util import files

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
        copy_public(public, copy)
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
