"""What lies on the shared disk for a run that was handed to Slurm: a folder of the queue beside the job's own.

`queue/NAME` is written by the controller and says what to run; `jobs/NAME` is laid out on the node, as backend vm does
it. Whoever creates `claimed` first, the node or a controller that cancels, decides whether the run takes place.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import evolve

from mlecore.errors import BackendError, BackendUnreachable
from mlecore.model.backends import Handle, Job
from mlecore.util import files
from mlecore_jobs.supervise.files import STATE, STOP, read_json, write_json, write_secrets
from mlecore_sandboxes import folders, packing

_PREFIX = "slurm:"
_CANCELLED = "cancelled"
_TASK = re.compile(r"\d+_\d+")


class Entry:
    """One run, by its folders."""

    def __init__(self, root: Path, name: str) -> None:
        self.job = folders.job_folder(root, name)  # checks the name
        self.name = name
        self.root = root
        self.folder = root / "queue" / name

    @property
    def handle(self) -> Handle:
        return Handle(name=self.name, id=f"{_PREFIX}{self.folder}")

    @property
    def exists(self) -> bool:
        return self.folder.is_dir()

    def about(self) -> dict[str, Any]:
        """Its group, image, options of sbatch, scratch folder and isolation; empty if it is gone."""
        return read_json(str(self.folder / "about.json")) or {}

    def state(self) -> dict[str, Any] | None:
        """What its supervisor says, or, if there was none, how it ended without one."""
        return read_json(str(self.job / STATE)) or read_json(str(self.folder / STATE))

    def end_without_supervisor(self, reason: str, *, infra_failure: bool) -> None:
        state = {"phase": "exited", "exit_code": None, "infra_failure": infra_failure, "reason": reason}
        with contextlib.suppress(FileNotFoundError):  # it was removed meanwhile
            write_json(str(self.folder / STATE), state, durable=True)

    def claim(self, owner: str) -> bool:
        """True for the first that asks, a node as "ARRAY_INDEX on NODE". Raises FileNotFoundError if it is gone."""
        try:
            claimed = os.open(self.folder / "claimed", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            return False
        with os.fdopen(claimed, "w") as out:
            out.write(owner)
        return True

    def claim_to_cancel(self) -> bool:
        """True if no node has begun it, so that none ever does; again for those who ask again."""
        with contextlib.suppress(FileNotFoundError):
            return self.claim(_CANCELLED) or (self.folder / "claimed").read_text() == _CANCELLED
        return False

    @property
    def claimed(self) -> bool:
        return (self.folder / "claimed").exists()

    def request_stop(self, grace: float) -> None:
        """For the supervisor, whenever there is one: the node looks at the request after it has laid out the job."""
        for folder in (self.folder, self.job):
            with contextlib.suppress(FileExistsError, FileNotFoundError), (folder / STOP).open("x") as out:
                out.write(str(grace))

    def stop_requested(self) -> str | None:
        """The grace that was requested, in seconds."""
        with contextlib.suppress(FileNotFoundError):
            return (self.folder / STOP).read_text()
        return None

    # Its place in an array

    def assign(self, batch: str, index: int) -> None:
        write_json(str(self.folder / "batch.json"), {"batch": batch, "index": index})

    def unassign(self, why: Mapping[str, Any]) -> None:
        with contextlib.suppress(FileNotFoundError):
            write_json(str(self.folder / "rejected.json"), dict(why))
            (self.folder / "batch.json").unlink()

    def batch(self) -> tuple[str, int] | None:
        found = read_json(str(self.folder / "batch.json"))
        return (str(found["batch"]), int(found["index"])) if found else None

    def rejected(self) -> dict[str, Any] | None:
        """Why sbatch did not take it the last time."""
        return read_json(str(self.folder / "rejected.json"))

    def task(self) -> str | None:
        """Slurm's id of it, "ARRAY_INDEX"; None: not submitted, or sbatch's answer is unknown and it has not begun."""
        placed = self.batch()
        if placed is None:
            return None
        with contextlib.suppress(FileNotFoundError):
            if array := (self.root / "batches" / placed[0] / "job").read_text().strip():
                return f"{array}_{placed[1]}"
        with contextlib.suppress(FileNotFoundError):
            task = (self.folder / "claimed").read_text().partition(" ")[0]
            return task if _TASK.fullmatch(task) else None
        return None


def entry_of(handle: Handle, root: Path) -> Entry:
    """Raises BackendError if the handle is not one of this state folder, BackendUnreachable if that folder is away."""
    entry = Entry(root, handle.name)
    if handle.id != entry.handle.id:
        raise BackendError(
            f"{handle.id!r} is not a run in {root}", fix="Give -B state=DIR as when the run was started."
        )
    if not entry.folder.parent.is_dir():  # which is never deleted
        raise BackendUnreachable(f"{entry.folder.parent} does not exist: is its file system mounted?")
    return entry


def entries(root: Path) -> Iterator[Entry]:
    for path in sorted((root / "queue").glob("*/about.json")):
        yield Entry(root, path.parent.name)


def write_entry(
    entry: Entry, job: Job, about: Mapping[str, Any], argv: Sequence[str], given: Mapping[str, Any]
) -> None:
    """Queue a job; ``argv`` is its gateway's, ``given`` its secrets and its gateway's settings.

    The secrets lie in a file that only this user can read until the node takes them, since nothing else reaches a node
    without the controller. If several write the same entry, the first one wins.
    """
    for parent in ("queue", "jobs", "batches", "new"):
        folders.make_private(entry.root / parent)
    with folders.new(entry.root, entry.name) as fresh:
        packed = evolve(job, files=_copied(job.files, fresh, "files"), tools=_copied(job.tools, fresh, "tools"))
        write_json(str(fresh / "request.json"), {"job": packing.pack(packed), "gateway": list(argv)})
        write_secrets(str(fresh / "given.json"), dict(given))
        described = {"group": job.group, "image": job.image.ref, **about}
        write_json(str(fresh / "about.json"), described, durable=True)
        try:
            fresh.rename(entry.folder)
        except OSError:
            if not entry.exists:
                raise


def _copied(content: Mapping[str, bytes | Path], fresh: Path, kind: str) -> dict[str, bytes | Path]:
    """The files on the shared disk; their paths are relative to the entry."""
    out: dict[str, bytes | Path] = {}
    for number, (name, value) in enumerate(content.items()):
        out[name] = value
        if isinstance(value, Path):
            target = fresh / kind / str(number)
            target.parent.mkdir(exist_ok=True)
            if value.is_dir():
                shutil.copytree(value, target)
            else:
                shutil.copy(value, target)
            out[name] = target.relative_to(fresh)
    return out


def read_request(entry: Entry) -> tuple[Job, list[str], dict[str, Any]]:
    """What ``write_entry`` wrote: job, command line of its gateway, secrets, which leave the disk."""
    request = read_json(str(entry.folder / "request.json"))
    given = read_json(str(entry.folder / "given.json"))
    (entry.folder / "given.json").unlink(missing_ok=True)
    if request is None or given is None:
        raise BackendError("what the controller wrote for it is damaged")
    return packing.placed(packing.unpack(request["job"]), entry.folder), request["gateway"], given


def erase(entry: Entry) -> None:
    """Remove all of it, and its batch if no other run is left in it."""
    trash = folders.make_private(entry.root / "trash")
    placed = entry.batch()
    for number, folder in enumerate((entry.job, entry.folder)):
        target = trash / f"{entry.name}.{os.getpid()}.{number}"
        with contextlib.suppress(FileNotFoundError):
            folder.rename(target)
        folders.erase(target)
    if placed:
        batch = entry.root / "batches" / placed[0]
        with contextlib.suppress(FileNotFoundError):
            names = (batch / "members").read_text().split()
            if not any((entry.root / "queue" / name).exists() for name in names):
                files.remove(batch)
