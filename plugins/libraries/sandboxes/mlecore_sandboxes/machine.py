"""The backend vm: jobs as sandboxed process trees on this machine, each with its own supervisor."""

from __future__ import annotations

import contextlib
import os
import platform
import signal
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path, PurePosixPath
from typing import ClassVar
from uuid import uuid4

from attrs import frozen

from mlecore.errors import BackendError, BackendUnreachable, DiskError
from mlecore.model.agents import HOME, Recipe
from mlecore.model.backends import (
    Backend,
    CachedImage,
    Capacity,
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
from mlecore.model.options import Option, declared, read_settings, setting, words
from mlecore_jobs import collect, seccomp, spare
from mlecore_jobs.fetching import Fetched
from mlecore_jobs.supervise import processes, relaying, slirp
from mlecore_jobs.supervise.files import SPEC, STATE, STOP, read_json
from mlecore_jobs.supervise.spec import read_spec
from mlecore_sandboxes import bubblewrap, data, environments, folders, gateways, layout, preflight, supervision
from mlecore_sandboxes.variables import secret_values
from mlecore_sandboxes.view import Isolation

_ENDED = 60.0  # seconds that a job may take to vanish after its grace


@frozen(kw_only=True)
class Settings:
    """Each field is an option."""

    isolation: Isolation = setting(
        "bubblewrap: a sandbox; none: plain processes that can read and change whatever you can",
        default="bubblewrap",
        choices=("bubblewrap", "none"),
    )
    gpus: tuple[str, ...] = setting(
        "GPUs that runs may use, by nvidia-smi's ids, e.g. 0,1; default: none", words, default=""
    )


class Machine(Backend):
    """This machine."""

    summary: ClassVar[str] = "This machine: a bubblewrap sandbox per run"
    options: ClassVar[tuple[Option, ...]] = declared(Settings)

    def __init__(self, options: Mapping[str, str], gateway_python: str | None = None) -> None:
        """``gateway_python`` has what a gateway imports; None: the Python that runs mlecore has it."""
        self._gateway_python = gateway_python
        settings = read_settings(Settings, options, "backend vm")
        self._isolation, self._gpus = settings.isolation, settings.gpus
        self._isolated = self._isolation == "bubblewrap"
        self._root = folders.state_root()

    @cached_property
    def _sandbox_problem(self) -> Problem | None:
        if not sys.platform.startswith("linux"):
            return Problem(
                description=f"runs here need Linux, and this is {sys.platform}", fix="Use the backend docker."
            )
        return bubblewrap.problem() if self._isolated else None

    def preflight(self, requested: Sequence[Resources] = ()) -> list[Problem]:
        return [
            *([self._sandbox_problem] if self._sandbox_problem else []),
            *preflight.problems(requested, self.capacity(), self._isolated, self._root),
        ]

    def stage_data(self, dataset: Dataset, progress: Progress) -> str:
        public = data.public_folder(dataset, others=self._isolated and os.geteuid() == 0)
        progress(1, 1, dataset.competition)
        return str(public)

    def build(self, recipe: Recipe, log: Path) -> Image:
        folders.make_private(self._root)
        if recipe.files and not self._isolated:
            raise BackendError("without a sandbox, a recipe's files cannot be at their paths")
        if self._sandbox_problem:
            raise BackendError(self._sandbox_problem.description, fix=self._sandbox_problem.fix)
        return environments.build(recipe, self._root, log, self._isolation)

    def cached_images(self) -> Sequence[CachedImage]:
        return environments.built(self._root)

    def prune(self, chosen: Sequence[CachedImage]) -> tuple[list[CachedImage], int]:
        return environments.prune(self._root, chosen)

    def start(self, job: Job) -> Handle:
        """Lay out its folder, rename it to its final name, start its supervisor. Every step may be interrupted.

        If several start the same job, the first whose folder gets the final name wins.
        """
        if self._sandbox_problem:
            raise BackendError(self._sandbox_problem.description, fix=self._sandbox_problem.fix)
        if job.resources.gpus > len(self._gpus):
            raise BackendError(f"{job.name} requests {job.resources.gpus} GPUs, {len(self._gpus)} available")
        folder = folders.job_folder(self._root, job.name)
        model = gateways.gateway_of(job, self._root, self._gateway_python)
        secrets = secret_values(job)
        folders.make_private(self._root)
        folders.make_private(folder.parent)
        if not folder.exists():
            with environments.kept(job.image.ref), folders.new(self._root, job.name) as fresh:
                layout.lay_out(fresh, folder, job, self._root, self._gpus, self._isolation, model.argv if model else ())
                try:
                    fresh.rename(folder)
                except OSError:
                    if not folder.exists():
                        raise
        if not (folder / STATE).exists() and supervision.is_startable(read_spec(str(folder)), processes.boot_id()):
            try:
                supervision.supervise(folder, self._root, secrets, model.settings.decode() if model else None)
            except BackendError as error:
                supervision.note_failed_start(folder, str(error))
        return folders.handle(folder)

    def list_jobs(self, group: str) -> dict[str, Handle]:
        found = [path.parent for path in sorted(folders.jobs(self._root).glob(f"*/{SPEC}"))]
        specs = {folder: read_spec(str(folder)) for folder in found}
        return {folder.name: folders.handle(folder) for folder, spec in specs.items() if spec and spec.group == group}

    def status(self, handles: Sequence[Handle]) -> dict[Handle, JobStatus]:
        boot = processes.boot_id()
        return {handle: self._status_of(handle, boot) for handle in handles}

    def _status_of(self, handle: Handle, boot: str) -> JobStatus:
        """A wrong handle (an edited record, another MLECORE_VM_STATE) must not hide the other jobs."""
        try:
            folder = folders.folder_of(handle)
        except BackendUnreachable:
            raise
        except BackendError as error:
            return JobStatus(phase="pending", reason=str(error))
        return supervision.status(folder, boot)

    def logs(self, handle: Handle, offset: int = 0, follow: bool = False) -> Iterator[bytes]:
        folder, boot = folders.folder_of(handle), processes.boot_id()
        return supervision.read_output(
            folder, lambda: supervision.status(folder, boot).phase in ("exited", "gone"), offset, follow
        )

    def capacity(self) -> Capacity:
        pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        return Capacity(cpus=float(cpus), memory=pages, gpus=self._gpus)

    def fetch(self, handle: Handle, globs: Sequence[str], into: Path, max_bytes: int, max_files: int) -> Fetched:
        folder = folders.folder_of(handle)
        try:
            return collect.collect(folder / "home", globs, into, max_bytes, max_files, folder)
        except DiskError as error:
            if getattr(error.__cause__, "errno", None) not in spare.FULL:
                raise
            raise DiskError(error.message + folders.largest(self._root, into), fix=error.fix) from error.__cause__

    def stop(self, handle: Handle, grace: float) -> None:
        folder = folders.folder_of(handle)
        boot = processes.boot_id()
        if supervision.status(folder, boot).phase in ("exited", "gone"):
            return
        with contextlib.suppress(FileExistsError):
            spare.write(folder, partial((folder / STOP).touch, exist_ok=False))
            with contextlib.suppress(OSError):  # on a full disk: without grace
                (folder / STOP).write_text(str(grace))
        limit = time.monotonic() + grace + _ENDED
        while supervision.status(folder, boot).phase not in ("exited", "gone"):
            state = read_json(str(folder / STATE))
            if state is None:  # it has no supervisor yet; when it starts, it sees the request to stop and runs nothing
                supervision.supervise(folder, self._root)
            else:
                processes.send(int(state["pid"]), signal.SIGUSR1)
            if time.monotonic() > limit:
                raise BackendError(f"{handle.name} does not end")
            time.sleep(0.05)

    def remove(self, handle: Handle) -> None:
        folder = folders.folder_of(handle)
        if not folder.is_dir():
            return
        self.stop(handle, 0.0)
        state = read_json(str(folder / STATE))
        if state is not None and state.get("boot") == processes.boot_id():
            supervision.clean_up_after(folder, state)
        trash = folders.make_private(folder.parent.parent / "trash") / f"{folder.name}.{uuid4().hex[:8]}"
        with contextlib.suppress(FileNotFoundError):
            folder.rename(trash)
        folders.erase(trash)

    def gateway_url(self, job_name: str) -> str:
        return relaying.GATEWAY_URL

    def reaches_as_here(self, endpoint: str) -> bool:
        return True

    def home(self, job_name: str) -> PurePosixPath:
        return HOME if self._isolated else PurePosixPath(folders.job_folder(self._root, job_name) / "home")

    def describe(self) -> Sandbox:
        isolated, held = self._isolated, preflight.held_by_cgroup()
        polled = Enforcement(level="watched", how="looked at four times a second")
        by_cgroup = Enforcement(level="enforced", how="cgroup")
        processes = Enforcement(level="enforced", how="rlimit") if isolated else polled
        return Sandbox(
            isolation=bubblewrap.version() if isolated else None,
            user=self._user(),
            time=Enforcement(level="enforced" if isolated else "watched", how="init, and a supervisor outside"),
            cpus=by_cgroup if "cpu" in held else Enforcement(level="watched", how="CPU affinity, which a job can undo"),
            memory=by_cgroup if "memory" in held else polled,
            processes=by_cgroup if "pids" in held else processes,
            disk=Enforcement(level="watched", how="counted every few seconds; one file by rlimit"),
            network=Enforcement(level="enforced", how="network namespace") if isolated else Enforcement(level="absent"),
            network_verified=isolated and self._sandbox_problem is None,  # it looks into a sandbox
            details={
                "kernel": platform.release(),
                "system_calls": "filtered" if isolated and seccomp.here() else "not filtered",
                "open_network": "its own (slirp4netns)" if isolated and slirp.is_there() else "the machine's",
            },
        )

    def _user(self) -> str:
        if not self._isolated:
            return "the controller's own"
        return "a separate one for each job" if os.geteuid() == 0 else "the controller's, in a user namespace"
