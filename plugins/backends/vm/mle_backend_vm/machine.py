"""The backend vm: jobs as sandboxed process trees on this machine, each with its own supervisor."""

from __future__ import annotations

import contextlib
import os
import platform
import shutil
import signal
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import ClassVar
from uuid import uuid4

from mle_backend_vm import bubblewrap, built, collect, environments, folders, gpus, start
from mle_backend_vm.status import clean_up_after, of_group, status
from mle_backend_vm.supervise import cgroups, processes, relaying, slirp
from mle_backend_vm.supervise.files import OUTPUT, STATE, STOP, read_json
from mlecore.agents import HOME, Recipe
from mlecore.backends import (
    Backend,
    CachedImage,
    Capacity,
    Dataset,
    Enforcement,
    Fetched,
    Handle,
    Image,
    Job,
    JobStatus,
    Problem,
    Progress,
    Resources,
    Sandbox,
)
from mlecore.errors import BackendError, BackendUnreachable
from mlecore.options import Option
from mlecore.sandbox import seccomp
from mlecore.units import show_size

_CHUNK = 1 << 20
_ENDED = 60.0  # seconds that a job may take to vanish after its grace


ISOLATION = Option(
    name="isolation",
    help="bubblewrap: a sandbox; none: plain processes that can read and change whatever you can",
    default="bubblewrap",
    choices=("bubblewrap", "none"),
)


def gpu_ids(given: str) -> tuple[str, ...]:
    """The ids in an option such as ``0,1``, each once."""
    return tuple(dict.fromkeys(part.strip() for part in given.split(",") if part.strip()))


class Vm(Backend):
    """This machine."""

    summary: ClassVar[str] = "This machine: a bubblewrap sandbox per run"
    options: ClassVar[tuple[Option, ...]] = (
        ISOLATION,
        Option(name="gpus", help="GPUs that runs may use, by nvidia-smi's ids, e.g. 0,1; default: none"),
    )

    def __init__(self, options: Mapping[str, str], gateway_python: str | None = None) -> None:
        """``gateway_python`` has what a gateway imports; None: the Python that runs mlecore has it."""
        self._gateway_python = gateway_python
        self._isolated = options.get("isolation", "bubblewrap") == "bubblewrap"
        self._gpus = gpu_ids(options.get("gpus", ""))
        self._root = folders.state_root()

    @cached_property
    def _sandbox_problem(self) -> Problem | None:
        if not sys.platform.startswith("linux"):
            return Problem(
                description=f"runs here need Linux, and this is {sys.platform}", fix="Use the backend docker."
            )
        return bubblewrap.problem() if self._isolated else None

    def preflight(self, requested: Sequence[Resources] = ()) -> list[Problem]:
        out = [self._sandbox_problem] if self._sandbox_problem else []
        if not self._isolated:
            what = "isolation=none: agents run as you, and can read and change all that you can, answers included"
            out.append(Problem(description=what, fix="Leave it out where bubblewrap works.", fatal=False))
        try:
            folders.make_private(self._root)
        except BackendError as error:
            out.append(Problem(description=error.message, fix=error.fix or ""))
        else:
            folders.sweep(self._root)
        known = gpus.found()
        for gpu in self._gpus:
            if gpu not in known:
                have = f"it has {', '.join(known)}" if known else "it has none"
                out.append(
                    Problem(description=f"this machine has no GPU {gpu}; {have}", fix="Give -B gpus=... as they are.")
                )
        return [*out, *self._unmet(requested), *_watched(requested)]

    def _unmet(self, requested: Sequence[Resources]) -> list[Problem]:
        """Resources that this machine cannot provide; each kind once."""
        here = self.capacity()
        found: dict[str, Problem] = {}
        for resources in requested:
            if resources.gpus > len(self._gpus):
                what = f"{resources.gpus} GPUs are asked for, and {len(self._gpus) or 'none'} may be used"
                found["gpus"] = Problem(description=what, fix="Name them: -B gpus=0,1.")
            if resources.memory and resources.memory > here.memory:
                what = f"{show_size(resources.memory)} of memory are asked for, and this machine has"
                found["memory"] = Problem(description=f"{what} {show_size(here.memory)}", fix="Ask for less.")
            if resources.cpus and resources.cpus > here.cpus:
                what = f"{resources.cpus:g} CPUs are asked for, and this machine has {here.cpus:g}"
                found["cpus"] = Problem(description=what, fix="Ask for fewer.")
            if resources.writable_root:
                what = "the agent installs things outside its home, which this backend keeps read-only"
                found["root"] = Problem(description=what, fix="Use the backend docker.")
            if resources.network != "open" and not self._isolated:
                what = f"network={resources.network} cannot be enforced without a sandbox"
                found["network"] = Problem(description=what, fix="Leave out -B isolation=none.", fatal=False)
            if resources.model is not None and not self._isolated:
                what = "an agent without a sandbox reaches no model: its gateway is a part of the sandbox"
                found["model"] = Problem(description=what, fix="Leave out -B isolation=none.")
            if resources.network == "open" and self._isolated and not slirp.is_there():
                what = "network=open is this machine's own network: its services on 127.0.0.1 and its Unix sockets "
                what += "without a file can be reached"
                fix = "Install slirp4netns (apt-get install slirp4netns): each job then gets a network of its own."
                found["open"] = Problem(description=what, fix=fix, fatal=False)
            if resources.network == "llm" and self._isolated:
                found |= {problem.description: problem for problem in _relay_problems(resources)}
        return list(found.values())

    def stage_data(self, dataset: Dataset, progress: Progress) -> str:
        public = dataset.public.resolve()
        if not public.is_dir():
            raise BackendError(f"the public data of {dataset.competition} are not at {public}")
        if self._isolated and os.geteuid() == 0:  # the agent is neither owner nor in the group there
            for path in (public, *list(public.iterdir())[:1000]):
                if path.stat().st_mode & (0o5 if path.is_dir() else 0o4) == 0:
                    raise BackendError(f"the agent's user may not read {path}", fix=f"chmod -R a+rX {public}")
        progress(1, 1, dataset.competition)
        return str(public)

    def build(self, recipe: Recipe, log: Path) -> Image:
        folders.make_private(self._root)
        if recipe.files and not self._isolated:
            raise BackendError("without a sandbox, a recipe's files cannot be at their paths")
        if self._sandbox_problem:
            raise BackendError(self._sandbox_problem.description, fix=self._sandbox_problem.fix)
        return environments.build(recipe, self._root, log, self._isolated)

    def cached_images(self) -> Sequence[CachedImage]:
        return built.built(self._root)

    def prune(self, chosen: Sequence[CachedImage]) -> tuple[list[CachedImage], int]:
        return built.prune(self._root, chosen)

    def start(self, job: Job) -> Handle:
        if self._sandbox_problem:
            raise BackendError(self._sandbox_problem.description, fix=self._sandbox_problem.fix)
        folders.make_private(self._root)
        if job.resources.gpus > len(self._gpus):
            raise BackendError(f"{job.name} asks for {job.resources.gpus} GPUs, and {len(self._gpus)} may be given out")
        return start.start(job, self._root, self._gpus, self._isolated, self._gateway_python)

    def list_jobs(self, group: str) -> dict[str, Handle]:
        return {folder.name: folders.handle(folder) for folder in of_group(folders.jobs(self._root), group)}

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
        return status(folder, boot)

    def logs(self, handle: Handle, offset: int = 0, follow: bool = False) -> Iterator[bytes]:
        folder = folders.folder_of(handle)
        boot = processes.boot_id()
        while True:
            over = status(folder, boot).phase in ("exited", "gone")
            with contextlib.suppress(FileNotFoundError), (folder / OUTPUT).open("rb") as source:
                source.seek(offset)
                while chunk := source.read(_CHUNK):
                    offset += len(chunk)
                    yield chunk
            if over or not follow:
                return
            time.sleep(0.2)

    def capacity(self) -> Capacity:
        pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        return Capacity(cpus=float(cpus), memory=pages, gpus=self._gpus)

    def fetch(self, handle: Handle, globs: Sequence[str], into: Path, max_bytes: int, max_files: int) -> Fetched:
        folder = folders.folder_of(handle)
        return collect.collect(folder / "home", globs, into, max_bytes, max_files, folder)

    def stop(self, handle: Handle, grace: float) -> None:
        folder = folders.folder_of(handle)
        boot = processes.boot_id()
        if status(folder, boot).phase in ("exited", "gone"):
            return
        with contextlib.suppress(FileExistsError), (folder / STOP).open("x") as out:
            out.write(str(grace))
        limit = time.monotonic() + grace + _ENDED
        while status(folder, boot).phase not in ("exited", "gone"):
            state = read_json(str(folder / STATE))
            if state is None:  # it has no supervisor yet; when it starts, it sees the request to stop and runs nothing
                start.supervise(folder, self._root)
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
            clean_up_after(folder, state)
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
        isolated, held = self._isolated, _held_by_cgroup()
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


def _held_by_cgroup() -> tuple[str, ...]:
    """The cgroup controllers that hold jobs to their limits here."""
    usable = cgroups.usable()
    return usable[1] if usable else ()


def _watched(requested: Sequence[Resources]) -> Iterator[Problem]:
    """Limits that are asked for (all of them, where nothing is asked for yet) and that a cgroup does not enforce."""
    held = _held_by_cgroup()
    asked = {
        "memory": not requested or any(resources.memory for resources in requested),
        "cpus": not requested or any(resources.cpus for resources in requested),
    }
    loose = [
        name for name, controller in (("memory", "memory"), ("cpus", "cpu")) if asked[name] and controller not in held
    ]
    if loose:
        what = f"the limit of {' and '.join(loose)} is only watched: a job that works against it can go beyond it"
        yield Problem(description=what, fix=cgroups.advice(), fatal=False)


def _relay_problems(resources: Resources) -> Iterator[Problem]:
    from mlecore.relay import Pattern

    if not resources.allow and resources.model is None:
        yield Problem(description="network llm, but neither a model nor an allowed host", fix="--endpoint URL")
    for text in resources.allow:
        try:
            Pattern(text)
        except ValueError as error:
            yield Problem(description=f"the relay cannot allow it: {error}", fix="Write host, host:port or *.domain.")
    if shutil.which("setpriv") is None:
        yield Problem(description="setpriv is not installed", fix="Install it (apt-get install util-linux).")
