"""Backend `ssh`: each job goes to the host with most room, and stays there.

A host that does not answer is set aside. Its jobs run on, and are found again when it answers; after ``_LOST_AFTER``
seconds they count as lost, so that their runs are tried again elsewhere, and are removed when it answers.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar

from attrs import evolve, frozen

from mle_backend_ssh import checks, placing
from mle_backend_ssh.background import ask_all, run_in_background
from mle_backend_ssh.host import Host
from mle_backend_ssh.hosts import HostSettings, read_hosts
from mle_backend_ssh.images import Images
from mle_backend_ssh.link import Link
from mle_backend_ssh.placing import Placements
from mlecore.errors import BackendError, BackendUnreachable, ImageGone
from mlecore.model.agents import HOME, Recipe
from mlecore.model.backends import (
    LIMITS,
    Backend,
    Capacity,
    Dataset,
    Handle,
    Image,
    Job,
    JobStatus,
    Problem,
    Progress,
    Resources,
    Sandbox,
)
from mlecore.model.options import Option, declared, setting
from mlecore_jobs.fetching import Fetched
from mlecore_jobs.supervise import relaying
from mlecore_sandboxes import folders
from mlecore_sandboxes.machine import Settings as VmSettings

_LOST_AFTER = 900.0  # seconds
_WEAKEST = ("absent", "watched", "enforced")


@frozen(kw_only=True)
class Settings(VmSettings):
    """Each field is an option; GPUs are those of each host that names none itself."""

    host: tuple[HostSettings, ...] | None = setting(
        "hosts to log in to, e.g. ann@gpu1,ann@gpu2, or [[host]] tables in --backend-config",
        read_hosts,
        required=True,
    )

    @property
    def hosts(self) -> tuple[HostSettings, ...]:
        """None where the backend is only shown."""
        return tuple(host if host.gpus else evolve(host, gpus=self.gpus) for host in self.host or ())


class SshBackend(Backend):
    """``connect`` returns the link to a host. Creating a backend contacts no host."""

    summary: ClassVar[str] = "Other machines, over SSH: a bubblewrap sandbox per run"
    options: ClassVar[tuple[Option, ...]] = declared(Settings)

    def __init__(
        self, hosts: Sequence[HostSettings], connect: Callable[[HostSettings], Link], isolation: str = "bubblewrap"
    ) -> None:
        self._hosts = {
            each.address: Host(
                each, connect(each), {"isolation": isolation, "gpus": ",".join(each.gpus)}, self._returned
            )
            for each in hosts
        }
        self._isolated = isolation == "bubblewrap"
        self._placements = Placements(folders.state_root())
        self._placing = threading.Lock()
        self._starting: dict[str, tuple[str, Resources]] = {}  # by job: its host, and what it asks for
        self._sending: dict[tuple[str, str], threading.Lock] = {}  # by host and digest of the data
        self._have: set[tuple[str, str]] = set()  # what has been sent
        self._images = Images()

    # About the hosts

    def describe(self) -> Sandbox:
        found: list[Sandbox] = list(self._call_all("describe").values())
        weakest = {
            name: min((each.limits()[name] for each in found), key=lambda limit: _WEAKEST.index(limit.level))
            for name in LIMITS
        }
        isolation = None
        if all(each.isolation for each in found):
            isolation = ", ".join(sorted({str(each.isolation) for each in found}))
        kernels = ", ".join(sorted({each.details.get("kernel", "") for each in found}))
        return evolve(
            found[0],
            isolation=isolation,
            user=", ".join(sorted({each.user for each in found})),
            network_verified=all(each.network_verified for each in found),
            details={**found[0].details, "kernel": kernels, "hosts": ", ".join(self._hosts)},
            **weakest,
        )

    def preflight(self, requested: Sequence[Resources] = ()) -> list[Problem]:
        """A host's problem keeps no run from starting as long as another host has none."""
        found = dict(ask_all(self._hosts.values(), lambda host: checks.problems(host, requested)))
        one_is_good = any(not any(problem.fatal for problem in problems) for problems in found.values())
        return [
            evolve(problem, description=f"{host.name}: {problem.description}", fatal=problem.fatal and not one_is_good)
            for host, problems in found.items()
            for problem in problems
        ]

    def inventory(self) -> Sequence[str]:
        return [line for _, line in ask_all(self._hosts.values(), checks.inventory)]

    def capacity(self) -> Capacity:
        found: dict[str, Capacity] = {}
        for host in self._hosts.values():
            try:
                found[host.name] = host.capacity()
            except BackendUnreachable:
                continue
        if not found:
            raise self._nobody()
        return Capacity(
            cpus=sum(each.cpus for each in found.values()),
            memory=sum(each.memory for each in found.values()),
            gpus=tuple(f"{name}/{gpu}" for name, each in found.items() for gpu in each.gpus),
        )

    # Before jobs

    def stage_data(self, dataset: Dataset, progress: Progress) -> str:
        """Returns when one host has the data; the others get them in the background, as fast as they can."""
        sent = {
            run_in_background(f"send to {host.name}", partial(self._send, host, dataset, progress))
            for host in self._hosts.values()
        }
        error: BaseException | None = None
        while sent:
            done, sent = wait(sent, return_when=FIRST_COMPLETED)
            for each in done:
                error = each.exception()
                if error is None:
                    return dataset.digest
        raise error or self._nobody()

    def _send(self, host: Host, dataset: Dataset, progress: Progress = lambda *_: None) -> str:
        """The folder there. What another thread or controller sends is waited for, and not sent again."""
        key = (host.name, dataset.digest)
        with self._sending.setdefault(key, threading.Lock()):  # those that wait need none of the host's connections
            folder = host.send(dataset, progress)
        self._have.add(key)
        return folder

    def build(self, recipe: Recipe, log: Path) -> Image:
        """On every host that answers; one that cannot build it gets none of its jobs. ``ref`` has what each made."""
        return self._images.build(recipe, self._hosts.values(), log)

    # Jobs

    def start(self, job: Job) -> Handle:
        try:
            return self._start_somewhere(job)
        finally:
            self._starting.pop(job.name, None)

    def _start_somewhere(self, job: Job) -> Handle:
        refused: dict[str, BackendError] = {}
        while True:
            host = self._place(job, refused)
            if self._is_lost(host):
                self._placements.give_up(job.name, host.name, group=job.group)
                continue
            try:
                return self._start(host, job)
            except (BackendUnreachable, ImageGone):
                raise
            except BackendError as error:  # the host answered: it has not started it
                refused[host.name] = error
                self._placements.forget(job.name)

    def _start(self, host: Host, job: Job) -> Handle:
        data = self._send(host, job.dataset)
        log = folders.make_private(folders.state_root() / "ssh") / "build.log"
        image = self._images.on(host, job.image, log)
        return _outer(host, host.start(evolve(job, data=data, image=image)))

    def _place(self, job: Job, refused: Mapping[str, BackendError]) -> Host:
        """The host of a job: where it was placed before, or the one with most room."""
        before = list(self._starting.items())  # what ends to start from now on may not be in the loads yet
        known = self._placements.host_of(job.name) is not None
        left = [host for name, host in self._hosts.items() if name not in refused]
        loads = {} if known else placing.loads(left)
        with self._placing:
            placed = self._placements.host_of(job.name)
            if placed is None:
                starting = dict([*before, *self._starting.items()])
                free = {}
                for host, load in loads.items():
                    needed = [resources for name, resources in starting.values() if name == host.name]
                    room = placing.room(host, load, job.resources, needed)
                    if room is not None:  # a host that has the data already is preferred to any that has not
                        free[host.name] = room + ((host.name, job.dataset.digest) in self._have)
                if not free:
                    if len(refused) == len(self._hosts):
                        raise next(iter(refused.values()))
                    raise BackendUnreachable(f"no host has room for {job.name} now", fix="It waits for one.")
                placed = self._placements.place(job.name, max(free, key=lambda name: free[name]))
            self._starting[job.name] = (placed, job.resources)
        if placed not in self._hosts:
            raise BackendError(
                f"{job.name} was started on {placed}, which is none of the hosts given", fix=f"Add {placed} to them."
            )
        return self._hosts[placed]

    def list_jobs(self, group: str) -> dict[str, Handle]:
        """On the hosts that answer. A job on another one is not started twice: see ``Placements``."""
        out: dict[str, Handle] = {}
        for name, found in self._call_all("list_jobs", group).items():
            host = self._hosts[name]
            for job, handle in found.items():
                if not self._placements.is_given_up(job, name):
                    out[job] = _outer(host, handle)
        return out

    def status(self, handles: Sequence[Handle]) -> dict[Handle, JobStatus]:
        by_host: dict[str, list[Handle]] = {}
        for handle in handles:
            by_host.setdefault(handle.id.partition(" ")[0], []).append(handle)
        out: dict[Handle, JobStatus] = {}

        def ask(name: str) -> None:
            host = self._hosts.get(name)
            if host is None:
                why = f"its host {name} is none of the hosts given"
                out.update(dict.fromkeys(by_host[name], JobStatus(phase="pending", reason=why)))
                return
            out.update(self._status_on(host, by_host[name]))

        with ThreadPoolExecutor(max_workers=max(1, len(by_host))) as pool:
            list(pool.map(ask, by_host))
        return {handle: out[handle] for handle in handles}

    def _status_on(self, host: Host, handles: Sequence[Handle]) -> dict[Handle, JobStatus]:
        gone = JobStatus(phase="gone", reason=f"{host.name} did not answer for too long: it was given up")
        left = [handle for handle in handles if not self._placements.is_given_up(handle.name, host.name)]
        out = dict.fromkeys((handle for handle in handles if handle not in left), gone)
        inner = {handle: _inner(handle) for handle in left}
        try:
            found = host.call("status", tuple(inner.values())) if left else {}
        except BackendUnreachable:
            if self._is_lost(host):
                for handle in left:
                    self._placements.give_up(handle.name, host.name, handle=inner[handle].id)
                return out | dict.fromkeys(left, gone)
            seen = JobStatus(phase="running", reason=f"{host.name} does not answer; its jobs run on")
            return out | dict.fromkeys(left, seen)
        return out | {handle: found[inner[handle]] for handle in left}

    def logs(self, handle: Handle, offset: int = 0, follow: bool = False) -> Iterator[bytes]:
        host = self._host(handle)
        yield from host.logs(_inner(handle), offset, follow)

    def fetch(self, handle: Handle, globs: Sequence[str], into: Path, max_bytes: int, max_files: int) -> Fetched:
        host = self._host(handle)
        if self._is_lost(host):
            raise BackendError(f"{host.name} has not answered for long, so that nothing of {handle.name} is fetched")
        return host.fetch(_inner(handle), globs, into, max_bytes, max_files)

    def stop(self, handle: Handle, grace: float) -> None:
        host = self._host(handle)
        if not self._placements.is_given_up(handle.name, host.name):
            host.call("stop", _inner(handle), grace)

    def remove(self, handle: Handle) -> None:
        host = self._host(handle)
        if not self._placements.is_given_up(handle.name, host.name):
            host.call("remove", _inner(handle))
            self._placements.forget(handle.name)

    def home(self, job_name: str) -> PurePosixPath:
        if self._isolated:
            return HOME
        homes: set[PurePosixPath] = set(self._call_all("home", job_name).values())
        if len(homes) > 1:
            raise BackendError(
                "without a sandbox, jobs see the folders of their host, and these differ",
                fix="Set state to the same folder on every host, or leave out isolation=none.",
            )
        return homes.pop()

    def gateway_url(self, job_name: str) -> str:
        return relaying.GATEWAY_URL

    # Hosts

    def _returned(self, host: Host) -> None:
        """A host answers again: remove its jobs that were given up."""
        for job, id, group in self._placements.given_up(host.name):
            try:
                if id is None:
                    handle = host.call("list_jobs", group or "").get(job)
                else:
                    handle = Handle(name=job, id=id)
                if handle is not None:
                    host.call("remove", handle)
            except BackendUnreachable:
                return
            except BackendError:  # it is tried again when the next controller comes
                continue
            self._placements.mark_removed(job, host.name)

    def _is_lost(self, host: Host) -> bool:
        """Are its jobs given up? Not if no host answers: then it is our own network that is down."""
        others = (each for each in self._hosts.values() if each is not host)
        return (host.down or 0) > _LOST_AFTER and any(each.down is None for each in others)

    def _host(self, handle: Handle) -> Host:
        name = handle.id.partition(" ")[0]
        try:
            return self._hosts[name]
        except KeyError:
            raise BackendError(
                f"{handle.name} is on {name}, which is none of the hosts given", fix=f"Add {name} to them."
            ) from None

    def _call_all(self, method: str, *arguments: object) -> dict[str, Any]:
        """By host, of those that answer. Raises BackendError if none does."""
        errors: list[BackendError] = []
        out: dict[str, Any] = {}

        def call(host: Host) -> None:
            try:
                out[host.name] = host.call(method, *arguments)
            except BackendError as error:
                errors.append(error)

        ask_all(self._hosts.values(), call)
        if not out:
            raise next((error for error in errors if not isinstance(error, BackendUnreachable)), self._nobody())
        return {name: out[name] for name in self._hosts if name in out}

    def _nobody(self) -> BackendUnreachable:
        errors = [host.error for host in self._hosts.values() if host.error is not None]
        why = "; ".join(dict.fromkeys(error.message for error in errors)) or ", ".join(self._hosts)
        return BackendUnreachable(f"no host answers: {why}", fix=errors[0].fix if errors else "Is the network up?")


def _outer(host: Host, handle: Handle) -> Handle:
    """A handle that names its host."""
    return Handle(name=handle.name, id=f"{host.name} {handle.id}")


def _inner(handle: Handle) -> Handle:
    """The handle as its host knows it."""
    return Handle(name=handle.name, id=handle.id.partition(" ")[2])
