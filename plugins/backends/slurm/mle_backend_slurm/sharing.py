"""Public data where compute nodes see them: in place on a shared file system, else copied there once."""

from __future__ import annotations

import fcntl
import hashlib
import shutil
from pathlib import Path

from mle_backend_vm import folders

from mlecore import files
from mlecore.backends import Dataset, Progress
from mlecore.data import manifest
from mlecore.errors import BackendError, DiskError

_SHARED = (  # types of file systems that several machines mount
    *("nfs", "nfs4", "lustre", "gpfs", "beegfs", "beegfs_nodev", "ceph", "cifs", "afs"),
    *("panfs", "pvfs2", "orangefs", "wekafs", "glusterfs"),
)


def shared_data(dataset: Dataset, root: Path, progress: Progress) -> Path:
    """The folder that jobs read: ``root`` is on a file system that nodes share, and so is what lies on the same one."""
    public = dataset.public.resolve()
    if not public.is_dir():
        raise BackendError(f"the public data of {dataset.competition} are not at {public}")
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
                _copy(public, partial / "public", dataset.competition, progress)
                for name in (manifest.HEAD, manifest.FILES):  # so that a node can compare hashes
                    if (public.parent / name).is_file():
                        shutil.copyfile(public.parent / name, partial / name)
                partial.rename(folder)
            except OSError as error:
                raise DiskError(f"data cannot be copied to {folder}: {error.strerror}", fix="See your quota.") from None
    progress(1, 1, dataset.competition)
    return folder / "public"


def _copy(public: Path, target: Path, competition: str, progress: Progress) -> None:
    sizes = {path: path.stat().st_size for path in sorted(public.rglob("*")) if path.is_file()}
    total, done = sum(sizes.values()) or 1, 0
    target.mkdir(parents=True)
    for path, size in sizes.items():
        if path.is_symlink():
            raise BackendError(f"{path} is a link; public data must not contain links")
        inside = target / path.relative_to(public)
        inside.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, inside)
        inside.chmod(0o444)
        done += size
        progress(min(done, total), total, f"{competition}: to the shared file system")


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
