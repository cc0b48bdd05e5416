"""Public data where compute nodes see them: in place on a shared file system, else copied there once."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path

from mlecore.data import manifest
from mlecore.data.manifest import sha256
from mlecore.errors import BackendError, DiskError
from mlecore.model.backends import Dataset, Progress
from mlecore.util import files
from mlecore_sandboxes import folders
from mlecore_sandboxes.data import listed, public_folder

_SHARED = (  # types of file systems that several machines mount
    *("nfs", "nfs4", "lustre", "gpfs", "beegfs", "beegfs_nodev", "ceph", "cifs", "afs"),
    *("panfs", "pvfs2", "orangefs", "wekafs", "glusterfs"),
)


def shared_data(dataset: Dataset, root: Path, progress: Progress) -> Path:
    """The folder that jobs read: ``root`` is on a file system that nodes share, and so is what lies on the same one."""
    public = public_folder(dataset)
    folders.make_private(root)
    if on_same_disk(public, root) or file_system(public) in _SHARED:
        progress(1, 1, dataset.competition)
        return public
    return _copied(dataset, public, root, progress)


def on_same_disk(one: Path, other: Path) -> bool:
    return one.stat().st_dev == other.stat().st_dev


def _copied(dataset: Dataset, public: Path, root: Path, progress: Progress) -> Path:
    """Only public files: what lies beside them is never read."""
    digest = hashlib.sha256(f"{dataset.edition} {dataset.digest}".encode()).hexdigest()[:16]
    folder = folders.make_private(root / "data") / f"{dataset.competition}-{digest}"
    with folder.with_name(f"{folder.name}.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "public").is_dir():
            partial = folder.with_name(f"{folder.name}.partial")
            files.remove(partial)
            try:
                total, done = sum(path.stat().st_size for path in public.rglob("*") if path.is_file()) or 1, 0

                def copied(size: int) -> None:
                    nonlocal done
                    done += size
                    progress(min(done, total), total, f"{dataset.competition}: to the shared file system")

                copy_public(public, partial / "public", copied)
                for name in (manifest.HEAD, manifest.FILES):  # so that a node can compare hashes
                    if (public.parent / name).is_file():
                        shutil.copyfile(public.parent / name, partial / name)
                partial.rename(folder)
            except OSError as error:
                raise DiskError(f"data cannot be copied to {folder}: {error.strerror}", fix="See your quota.") from None
    progress(1, 1, dataset.competition)
    return folder / "public"


def copy_public(public: Path, target: Path, copied: Callable[[int], object] = lambda _: None) -> None:
    """``copied`` is told of the bytes of each file. What is read must be what the manifest says, where there is one.

    Raises BackendError.
    """
    known = listed(public)
    for top, inner, names in os.walk(public):
        inside = target / Path(top).relative_to(public)
        inside.mkdir(parents=True)
        inside.chmod(0o755)
        for path in (Path(top, name) for name in (*inner, *names)):
            if path.is_symlink() or not (path.is_file() or path.is_dir()):
                raise BackendError(f"{path} is neither a file nor a folder; public data contain no others")
        for path in (Path(top, name) for name in names):
            copy = inside / path.name
            shutil.copyfile(path, copy)
            copy.chmod(0o444)
            entry = known.get(path.relative_to(public).as_posix()) if known is not None else None
            expected = sha256(str(path)) if known is None else entry and entry.sha256
            if sha256(str(copy)) != expected:
                raise BackendError(
                    f"{path} was copied, and the copy is not what its manifest says",
                    fix="Have the data verified (mlecore prepare), and the disk that they are copied to.",
                )
            copied(copy.stat().st_size)
    if known is not None and (missing := [path for path in known if not (target / path).is_file()]):
        raise BackendError(f"{public} has no {missing[0]}, which its manifest lists", fix="Prepare the data again.")


def file_system(path: Path) -> str:
    """Its type, as the kernel lists it: "nfs4", "ext4"; empty if that is unknown."""
    best, kind = "", ""
    try:
        lines = Path("/proc/self/mounts").read_text(errors="replace").splitlines()
    except OSError:
        return ""
    for line in lines:
        _, mounted, found = (line.split(" ") + [""] * 3)[:3]
        mounted = mounted.encode().decode("unicode_escape")
        if (path == Path(mounted) or Path(mounted) in path.parents) and len(mounted) >= len(best):
            best, kind = mounted, found
    return kind
