"""The backend slurm: jobs of a Slurm cluster, each with backend vm's sandbox and supervisor on its node."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar

from mle_backend_slurm import doctor, entries, outcome, sharing
from mle_backend_slurm.batches import Submitter
from mle_backend_slurm.building import Builder
from mle_backend_slurm.commands import Slurm
from mle_backend_slurm.entries import Entry
from mle_backend_slurm.node.run import SANDBOX
from mle_backend_slurm.settings import Settings, sbatch_options
from mle_backend_slurm.watch import Watch
from mlecore.errors import BackendError, BackendUnreachable
from mlecore.model.agents import HOME, Recipe
from mlecore.model.backends import (
    Backend,
    CachedImage,
    Dataset,
    Enforcement,
    Handle,
    Image,
    Job,
    JobStatus,
    Problem,
    Progress,
    Resources,
    Sandbox,
)
from mlecore.model.options import Option, declared, read_settings
from mlecore.util.globs import Glob
from mlecore_jobs import collect
from mlecore_jobs.fetching import Fetched, Receiver
from mlecore_jobs.supervise import relaying
from mlecore_jobs.supervise.files import read_json
from mlecore_sandboxes import environments, folders, supervision
from mlecore_sandboxes.gateways import gateway_of, model_key
from mlecore_sandboxes.variables import secret_values

_LOG = 600  # characters of what a node's program printed last
_ENDED = 30.0  # seconds that a supervisor may take beyond the grace to end its job, before Slurm is asked to
_COMPLETED = 90.0  # seconds that Slurm may take to say how a job ended, once its supervisor has ended
_KILLED = 120.0  # seconds that Slurm may take
_SUBMITTED = 10.0  # seconds that sbatch may take to answer before a run is cancelled that it takes meanwhile
_RETRY = 4  # intervals of -B poll until a run that sbatch rejected is submitted again


class SlurmBackend(Backend):
    """Creating one contacts nothing."""

    summary: ClassVar[str] = "A Slurm cluster: a job per run, in a sandbox of bubblewrap or Apptainer on its node"
    options: ClassVar[tuple[Option, ...]] = declared(Settings)

    def __init__(self, options: Mapping[str, str]) -> None:
        self._settings = settings = read_settings(Settings, options, "backend slurm")
        self._root = settings.state
        quiet = min(1.0, settings.poll / 10)
        self.slurm = Slurm()
        self._watch = Watch(self.slurm, settings.poll)
        self._submitter = Submitter(self._root, self.slurm, quiet, _RETRY * settings.poll)
        self._builder = Builder(settings, self.slurm)
        self._doubts: dict[str, tuple[str, int, float]] = {}  # by run: what is in doubt, since which look, since when
        self._judging = threading.Lock()

    # Before jobs

    def describe(self) -> Sandbox:
        """What every node must have; a node that enforces more says so, in ``JobStatus.sandbox``."""
        isolated = self._settings.isolated
        polled = Enforcement(level="watched", how="looked at four times a second; Slurm's limit beyond it")
        network = Enforcement(level="enforced", how="network namespace") if isolated else Enforcement(level="absent")
        user = "a separate one for each job" if os.geteuid() == 0 else "the controller's"
        return Sandbox(
            isolation="bubblewrap or Apptainer" if isolated else None,
            user=user if isolated else "the controller's own",
            time=Enforcement(level="enforced" if isolated else "watched", how="init, and a supervisor outside"),
            cpus=Enforcement(level="watched", how="CPU affinity, which a job can undo unless Slurm confines it"),
            memory=polled,
            processes=Enforcement(level="watched", how="looked at four times a second; enforced by bubblewrap"),
            disk=Enforcement(level="watched", how="counted every few seconds; one file by rlimit"),
            network=network,
        )

    def preflight(self, requested: Sequence[Resources] = ()) -> list[Problem]:
        return doctor.problems(self._settings, self.slurm, requested)

    def inventory(self) -> Sequence[str]:
        return doctor.inventory(self._settings, self.slurm)

    def stage_data(self, dataset: Dataset, progress: Progress) -> str:
        return str(sharing.shared_data(dataset, self._root, progress))

    def build(self, recipe: Recipe, log: Path) -> Image:
        folders.make_private(self._root)
        return self._builder.build(recipe, log)

    def cached_images(self) -> Sequence[CachedImage]:
        return environments.built(self._root)

    def prune(self, chosen: Sequence[CachedImage]) -> tuple[list[CachedImage], int]:
        queued = {entry.about().get("image") for entry in entries.entries(self._root)}
        return environments.prune(self._root, [each for each in chosen if each.ref not in queued])

    # Jobs

    def start(self, job: Job) -> Handle:
        """Queues it on the shared disk; it is submitted within a moment, with others that start now."""
        entry = Entry(self._root, job.name)
        if not entry.exists:
            model = gateway_of(job, self._root)
            given = {
                "secrets": secret_values(job),
                "gateway": model.settings.decode() if model else None,
                "key": model_key(job),
            }
            about = {
                "options": list(sbatch_options(self._settings, job.resources)),
                "scratch": self._settings.scratch,
                "isolation": self._settings.isolation,
            }
            with environments.kept(job.image.ref):
                entries.write_entry(entry, job, about, model.argv if model else (), given)
        if entry.batch() is None:
            self._submitter.add(entry)
            self._watch.hurry()
        return entry.handle

    def list_jobs(self, group: str) -> dict[str, Handle]:
        found = ((entry, entry.about()) for entry in entries.entries(self._root))
        return {entry.name: entry.handle for entry, about in found if about.get("group") == group}

    def status(self, handles: Sequence[Handle]) -> dict[Handle, JobStatus]:
        """Mostly from the shared disk; Slurm is asked once for all runs, and only when it is time."""
        out: dict[Handle, JobStatus] = {}
        open_entries: dict[Handle, Entry] = {}
        for handle in handles:
            try:
                entry = entries.entry_of(handle, self._root)
            except BackendUnreachable:
                raise
            except BackendError as error:  # a wrong handle must not hide the other runs
                out[handle] = JobStatus(phase="pending", reason=str(error))
                continue
            state = entry.state()
            if not entry.exists:
                out[handle] = JobStatus(phase="gone", reason=f"there is no such run in {self._root}")
            elif outcome.is_settled(state):
                assert state is not None
                out[handle] = outcome.of_exited(state, None, self._sandbox(entry))
            else:
                open_entries[handle] = entry
        if open_entries:
            tasks = {entry.name: entry.task() for entry in open_entries.values()}
            self._watch.look([task for task in tasks.values() if task])
            for handle, entry in open_entries.items():
                out[handle] = self._status_of(entry, tasks[entry.name])
        return {handle: out[handle] for handle in handles}

    def _status_of(self, entry: Entry, task: str | None) -> JobStatus:
        if task is None:
            state = entry.state()
            over = state is not None and state["phase"] == "exited"
            return outcome.of_exited(state, None, None) if state and over else self._unsubmitted(entry)
        watch = self._watch
        seen = watch.tasks.get(task)
        claimed, state = entry.claimed, entry.state()  # read after Slurm was asked: the end may have been written since
        at_work = seen is not None and seen.state in outcome.AT_WORK
        if state is not None and state["phase"] == "exited":
            waits = seen is not None and seen.state in outcome.WAITING  # requeued, or what Slurm said is old
            unexplained = not outcome.is_settled(state) and (at_work or waits or seen is None)
            if unexplained and not self._lasts(entry, "ended", _COMPLETED if at_work else 0.0):
                return JobStatus(phase="running", reason="has ended; Slurm is asked why")
            return outcome.of_exited(state, seen, self._sandbox(entry))
        if seen is not None and seen.state in outcome.WAITING:
            if not claimed:
                return outcome.of_waiting(seen)
            return outcome.of_requeued(seen) if self._lasts(entry, "requeued") else JobStatus(phase="running")
        if at_work or (seen is None and not watch.knows_all()):
            self._doubts.pop(entry.name, None)
        elif self._lasts(entry, "lost"):
            return outcome.of_lost(seen, entry.stop_requested() is not None, self._log(entry))
        return self._at_work(entry, state, claimed)

    def _at_work(self, entry: Entry, state: Mapping[str, Any] | None, claimed: bool) -> JobStatus:
        error = self._watch.error
        if state is not None:
            reason = str(state.get("reason", ""))
            return JobStatus(phase=state["phase"], reason=f"{error.message}; it runs on" if error else reason)
        if claimed:
            return JobStatus(phase="pending", reason="its node prepares it")
        return JobStatus(phase="pending", reason=error.message if error else "is in Slurm's queue")

    def _unsubmitted(self, entry: Entry) -> JobStatus:
        placed, rejected = entry.batch(), entry.rejected()
        if placed is not None:  # sbatch runs now, or its answer was lost
            self._watch.hurry()
            if self._lasts(entry, "submitted") and self._watch.error is None:
                self._doubts.pop(entry.name, None)
                self._submitter.recover(entry, self._watch.names)
            return JobStatus(phase="pending", reason="is being submitted")
        self._submitter.add(entry)
        if rejected is None:
            return JobStatus(phase="pending", reason="is being submitted")
        fix = f" ({rejected['fix']})" if rejected.get("fix") else ""
        return JobStatus(phase="pending", reason=f"{rejected['message']}{fix}", stuck=not rejected.get("limited"))

    def _lasts(self, entry: Entry, doubt: str, seconds: float = 0.0) -> bool:
        """Has this doubt, and no other, outlived two looks? The shared disk may be behind Slurm, or ahead of it."""
        with self._judging:
            before, look, since = self._doubts.get(entry.name, ("", 0, 0.0))
            if before != doubt:
                look, since = self._watch.looks, time.monotonic()
                self._doubts[entry.name] = (doubt, look, since)
        self._watch.hurry()
        return self._watch.looks >= look + 2 and time.monotonic() - since >= seconds

    def _sandbox(self, entry: Entry) -> dict[str, Any] | None:
        return read_json(str(entry.job / SANDBOX))

    def _log(self, entry: Entry) -> str:
        placed = entry.batch()
        if placed is None:
            return ""
        with contextlib.suppress(OSError):
            text = (self._root / "batches" / placed[0] / f"{placed[1]}.log").read_text(errors="replace")
            return text[-_LOG:].strip()
        return ""

    def logs(self, handle: Handle, offset: int = 0, follow: bool = False) -> Iterator[bytes]:
        entry = entries.entry_of(handle, self._root)

        def is_over() -> bool:
            if not entry.exists or (entry.state() or {}).get("phase") == "exited":
                return True
            return follow and self.status([handle])[handle].phase in ("exited", "gone")

        return supervision.read_output(entry.job, is_over, offset, follow)

    def fetch(self, handle: Handle, globs: Sequence[str], into: Path, max_bytes: int, max_files: int) -> Fetched:
        entry = entries.entry_of(handle, self._root)
        if not entry.exists:
            raise BackendError(f"{handle.name} was removed")
        if not entry.job.is_dir():  # it never began
            for text in globs:
                Glob(text)  # raises its ValueError
            return Receiver(into, max_bytes, max_files).fetched()
        return collect.collect(entry.job / "home", globs, into, max_bytes, max_files, entry.job)

    # Ending jobs

    def stop(self, handle: Handle, grace: float) -> None:
        entry = entries.entry_of(handle, self._root)
        if not entry.exists or (entry.state() or {}).get("phase") == "exited":
            return
        entry.request_stop(grace)
        if entry.claim_to_cancel():
            self._cancel(entry)
            entry.end_without_supervisor("stopped before it began", infra_failure=False)
            return
        if self._ends_within(entry, grace + _ENDED):
            return
        self._cancel(entry)
        if not self._ends_within(entry, _KILLED):
            raise BackendError(f"{handle.name} does not end", fix=f"See `squeue --job {entry.task()}`.")

    def _ends_within(self, entry: Entry, seconds: float) -> bool:
        """Also if Slurm says that it is over."""
        limit = time.monotonic() + seconds
        while time.monotonic() < limit:
            if self.status([entry.handle])[entry.handle].phase in ("exited", "gone"):
                return True
            if (entry.state() or {}).get("phase") == "exited":
                return True
            time.sleep(0.2)
        return False

    def _cancel(self, entry: Entry) -> None:
        """Returns when Slurm knows it. Raises BackendError."""
        limit = time.monotonic() + _SUBMITTED
        while (task := entry.task()) is None:
            if entry.batch() is None or time.monotonic() > limit:
                return
            time.sleep(0.1)
        self.slurm.cancel([task])

    def remove(self, handle: Handle) -> None:
        entry = entries.entry_of(handle, self._root)
        if not entry.exists:
            return
        self.stop(handle, 0.0)
        if not outcome.is_settled(entry.state()):  # Slurm may still start it, or hold its resources
            self._cancel(entry)
        entries.erase(entry)
        self._doubts.pop(entry.name, None)

    def home(self, job_name: str) -> PurePosixPath:
        return HOME if self._settings.isolated else PurePosixPath(folders.job_folder(self._root, job_name) / "home")

    def gateway_url(self, job_name: str) -> str:
        return relaying.GATEWAY_URL
