"""Runs that start together become the tasks of one array: they are gathered for a moment, then handed to sbatch.

A batch has a folder with the names of its runs and sbatch's script, and its name is that of the Slurm job, so that a
controller that died while it submitted does not submit twice: the next one finds the job by that name.
"""

from __future__ import annotations

import contextlib
import fcntl
import shlex
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from mle_backend_slurm.commands import LIMITED, Slurm
from mle_backend_slurm.entries import Entry
from mlecore.errors import BackendError, BackendUnreachable
from mlecore.util import files
from mlecore_sandboxes import folders

_LARGEST = 500  # tasks of an array; clusters allow 1,001 (MaxArraySize)
_LONGEST_WAIT = 10  # quiet periods after which a batch is submitted although runs are still being added


class Gatherer:
    """Calls ``work`` with what was added, once nothing was for ``quiet`` seconds, in a thread that ends when idle."""

    def __init__(self, quiet: float, work: Callable[[Collection[str]], None]) -> None:
        self._quiet = quiet
        self._work = work
        self._added: list[str] = []
        self._changed = threading.Condition()
        self._busy = False

    def add(self, name: str) -> None:
        with self._changed:
            if name not in self._added:  # each look at a run adds it again, which must not put its batch off
                self._added.append(name)
                self._changed.notify_all()
            if not self._busy:
                self._busy = True
                threading.Thread(target=self._serve, name="slurm", daemon=True).start()

    def _serve(self) -> None:
        while True:
            with self._changed:
                began = time.monotonic()
                while self._changed.wait(self._quiet):  # something was added
                    if time.monotonic() - began > self._quiet * _LONGEST_WAIT:
                        break
                taken, self._added = self._added, []
                if not taken:
                    self._busy = False
                    return
            try:
                self._work(taken)
            except BaseException:
                with self._changed:
                    self._busy = False  # the next call starts another thread
                raise


class Submitter:
    """Hands runs to sbatch. Thread-safe; several controllers may share a state folder."""

    def __init__(self, root: Path, slurm: Slurm, quiet: float, retry: float = 0.0) -> None:
        """``retry``: seconds until a run that sbatch rejected may be submitted again."""
        self._root = root
        self._retry = retry
        self._slurm = slurm
        self._gathered = Gatherer(quiet, self._submit_all)
        self._again: dict[str, float] = {}  # of runs that were rejected: not before

    def add(self, entry: Entry) -> None:
        if time.monotonic() >= self._again.get(entry.name, 0.0):
            self._gathered.add(entry.name)

    def _submit_all(self, names: Collection[str]) -> None:
        with contextlib.suppress(OSError), _locked(self._root):  # a disk that is away: status() adds them again
            waiting: dict[tuple[str, ...], list[Entry]] = {}
            for name in names:
                entry = Entry(self._root, name)
                about = entry.about()
                if about and entry.batch() is None and not entry.claimed:
                    waiting.setdefault(tuple(about["options"]), []).append(entry)
            for options, found in waiting.items():
                for at in range(0, len(found), _LARGEST):
                    self._submit(options, found[at : at + _LARGEST])

    def _submit(self, options: Sequence[str], found: Sequence[Entry]) -> None:
        name = f"mle-{uuid4().hex[:12]}"
        batch = folders.make_private(self._root / "batches" / name)
        (batch / "members").write_text("".join(f"{entry.name}\n" for entry in found))
        script = write_script(batch, ["run", str(self._root), name])
        for index, entry in enumerate(found):
            with contextlib.suppress(FileNotFoundError):  # removed meanwhile
                entry.assign(name, index)
        words = (f"--job-name={name}", f"--array=0-{len(found) - 1}", f"--output={batch}/%a.log")
        try:
            job = self._slurm.submit((*options, *words), str(script))
        except BackendUnreachable:  # it may have taken the batch all the same: recover() finds out
            return
        except BackendError as error:
            files.remove(batch)
            for entry in found:
                self._again[entry.name] = time.monotonic() + self._retry
                limited = bool(LIMITED.search(error.message))
                entry.unassign({"message": error.message, "fix": error.fix, "limited": limited})
            if len(found) > 1 and LIMITED.search(error.message):
                half = len(found) // 2
                self._submit(options, found[:half])
                self._submit(options, found[half:])
            return
        files.replace(batch / "job", job.encode())

    def recover(self, entry: Entry, names: Mapping[str, str]) -> None:
        """Nobody noted sbatch's answer for its batch: ``names`` are the ids of this user's queued jobs, by name."""
        with contextlib.suppress(OSError, BackendUnreachable), _locked(self._root):
            placed = entry.batch()
            if placed is None:
                return
            batch = placed[0]
            folder = self._root / "batches" / batch
            if not folder.is_dir():
                entry.unassign({"message": f"{folder} was deleted", "limited": True})
                return
            if (folder / "job").exists():
                return
            job = names.get(batch)
            if job is None:
                with contextlib.suppress(BackendError):  # no accounting: the queue remembers for minutes
                    job = self._slurm.named(batch)
            if job is not None:
                files.replace(folder / "job", job.encode())
                return
            for name in (folder / "members").read_text().split():
                member = Entry(self._root, name)
                placed = member.batch()
                if placed and placed[0] == batch and not member.claimed:
                    member.unassign({"message": "it was not submitted", "limited": True})
            files.remove(folder)


def write_script(folder: Path, words: Sequence[str]) -> Path:
    """What sbatch is given: this Python, with the part of this package that works on nodes."""
    script = folder / "script.sh"
    command = shlex.join([sys.executable, "-P", "-m", "mle_backend_slurm.node", *words])
    script.write_text(f"#!/bin/sh\nexec {command}\n")
    return script


@contextmanager
def _locked(root: Path) -> Iterator[None]:
    """One controller submits at a time."""
    with (root / "submit.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
