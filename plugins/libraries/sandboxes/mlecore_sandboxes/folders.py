"""What this backend keeps on disk: a folder per job, environments, claims. All of it outlives the controller."""

from __future__ import annotations

import contextlib
import os
import re
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

from mlecore.errors import BackendError, BackendUnreachable
from mlecore.model.backends import Handle
from mlecore.util import files
from mlecore.util.child_environment import child_environment
from mlecore.util.scratch import abandoned, held
from mlecore.util.units import show_size
from mlecore_jobs.supervise.spec import read_spec

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,120}")


def state_root() -> Path:
    """``MLECORE_VM_STATE``, or below the user's state folder."""
    given = os.environ.get("MLECORE_VM_STATE")
    if given:
        return Path(given).absolute()
    from platformdirs import user_state_path

    return user_state_path("mlecore", appauthor=False) / "vm"


def make_private(folder: Path) -> Path:
    """A folder that only we can enter: it holds files of runs, which other runs must not see."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o700)
    except OSError as error:
        raise BackendError(
            f"backend vm cannot keep its state in {folder}: {error}",
            fix="Set MLECORE_VM_STATE to a writable folder.",
        ) from None
    return folder


def jobs(root: Path) -> Path:
    return root / "jobs"


def job_folder(root: Path, name: str) -> Path:
    """Raises BackendError for an invalid name."""
    if not _NAME.fullmatch(name):
        raise BackendError(f"{name!r} cannot be a job's name: letters, digits and ._- only")
    return jobs(root) / name


def handle(folder: Path) -> Handle:
    return Handle(name=folder.name, id=f"{socket.gethostname()}:{folder}")


def folder_of(handle: Handle) -> Path:
    """A job's folder. Raises BackendUnreachable if it is another machine's, BackendError if it is not ours."""
    host, _, text = handle.id.partition(":")
    folder = Path(text)
    if not _NAME.fullmatch(handle.name) or folder.name != handle.name or folder.parent.name != "jobs":
        raise BackendError(f"{handle.id!r} is not a handle of backend vm")
    if host != socket.gethostname():
        raise BackendUnreachable(
            f"{handle.name} was started on {host}, and this is {socket.gethostname()}", fix=f"Resume it on {host}."
        )
    if folder != job_folder(state_root(), handle.name):
        raise BackendError(
            f"{folder} is not a job's folder below {state_root()}, where backend vm keeps its jobs",
            fix="Set MLECORE_VM_STATE to the folder that it was started with.",
        )
    return folder


@contextlib.contextmanager
def new(root: Path, name: str) -> Iterator[Path]:
    """A folder to lay out a job in. It is removed unless it was renamed; ``sweep`` finds it after a kill."""
    folder = make_private(root / "new") / f"{name}.{uuid4().hex[:8]}"
    folder.mkdir()
    with held(folder):
        try:
            yield folder
        finally:
            files.remove(folder)


def largest(root: Path, target: Path) -> str:
    """In words, which job holds most of the disk of ``target``; empty if none does, or that takes too long to find."""
    try:
        homes = [str(path) for path in jobs(root).glob("*/*") if path.name in ("home", "tmp")]
        if not homes or jobs(root).stat().st_dev != target.stat().st_dev:
            return ""
        done = subprocess.run(
            ["du", "-skx", "--", *homes], env=child_environment(), capture_output=True, timeout=20, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    sizes: dict[Path, int] = {}
    for line in os.fsdecode(done.stdout).splitlines():
        size, _, path = line.partition("\t")
        sizes[Path(path).parent] = sizes.get(Path(path).parent, 0) + 1024 * int(size)
    if not sizes:
        return ""
    folder = max(sizes, key=lambda folder: sizes[folder])
    spec = read_spec(str(folder))
    return f"; the most of its room, {show_size(sizes[folder])}, is held by {spec.run if spec else folder.name}"


def sweep(root: Path) -> None:
    """Delete what killed controllers left partly laid out or partly deleted."""
    for folder in (root / "trash").glob("*"):
        erase(folder)
    for folder in (root / "new").glob("*"):
        with contextlib.suppress(FileNotFoundError):
            if abandoned(folder):
                erase(folder)


def erase(folder: Path) -> None:
    """Delete a tree, even one that an agent made hard to delete. Raises BackendError."""
    try:
        files.remove(folder)
    except OSError as error:
        raise BackendError(f"cannot delete {folder}: {error.strerror or error}") from None
