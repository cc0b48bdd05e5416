"""Several hosts as one backend: each job goes to the host with most room, and stays there.

A host that does not answer is set aside. Its jobs run on, and are found again when it answers; after ``_GIVEN_UP``
seconds they count as lost, so that their runs are tried again elsewhere, and are removed when it answers.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from functools import partial
from pathlib import Path, PurePosixPath
from typing import ClassVar, TypeVar

from attrs import evolve
from mle_backend_vm import folders
from mle_backend_vm.supervise import relaying
from mle_backend_vm.vm_backend import ISOLATION

from mle_backend_ssh import checks
from mle_backend_ssh.host import Host
from mle_backend_ssh.hosts import HostSettings
from mle_backend_ssh.members import Member, ask_all, begin
from mle_backend_ssh.placing import Placements
from mle_backend_ssh.supplies import Data, Images
from mlecore.agents import HOME, Recipe
from mlecore.backends import (
    LIMITS,
    Backend,
    Capacity,
    Dataset,
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
from mlecore.errors import BackendError, BackendUnreachable, ImageGone, UsageError
from mlecore.options import Option

T = TypeVar("T")

_GIVEN_UP = 900.0
_SLOW = 3.0  # seconds that the slower hosts have to say how much room they have
_WEAKEST = ("absent", "watched", "enforced")


class Pool(Backend):
    """``connect`` makes a Host of its settings. Making a pool contacts none of them."""

    summary: ClassVar[str] = "Other machines, over SSH: a bubblewrap sandbox per run"
    options: ClassVar[tuple[Option, ...]] = (
        Option(name="host", help="hosts to log in to, e.g. ann@gpu1,ann@gpu2, or [[host]] tables in --backend-config"),
        Option(name="gpus", help="GPUs of each host that runs may use, by nvidia-smi's ids, e.g. 0,1; default: none"),
        ISOLATION,
    )

    def __init__(
        self, hosts: Sequence[HostSettings], connect: Callable[[HostSettings], Host], isolated: bool = True
    ) -> None:
        self._members = {each.address: Member(each, connect(each), self._returned) for each in hosts}
        self._isolated = isolated
        self._placements = Placements(folders.state_root())
        self._placing = threading.Lock()
        self._starting: dict[str, tuple[str, Resources]] = {}  # by job: its host, and what it asks for
        self._data = Data()
        self._images = Images()

    # About the hosts

    def describe(self) -> Sandbox:
        found = list(self._of_all(lambda host: host.describe()).values())
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
            details={**found[0].details, "kernel": kernels, "hosts": ", ".join(self._members)},
            **weakest,
        )

    def preflight(self, requested: Sequence[Resources] = ()) -> list[Problem]:
        """A host's problem keeps no run from starting as long as another host has none."""
        if not self._members:
            raise UsageError("no host given", fix="Name one: -B host=user@name.")
        found = dict(ask_all(self._members.values(), lambda member: checks.problems(member, requested)))
        one_is_good = any(not any(problem.fatal for problem in problems) for problems in found.values())
        return [
            evolve(
                problem, description=f"{member.name}: {problem.description}", fatal=problem.fatal and not one_is_good
            )
            for member, problems in found.items()
            for problem in problems
        ]

    def inventory(self) -> Sequence[str]:
        return [line for _, line in ask_all(self._members.values(), checks.inventory)]

    def capacity(self) -> Capacity:
        found: dict[str, Capacity] = {}
        for member in self._members.values():
            try:
                found[member.name] = member.capacity()
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
        sent = {self._data.send(member, dataset, progress) for member in self._members.values()}
        error: BaseException | None = None
        while sent:
            done, sent = wait(sent, return_when=FIRST_COMPLETED)
            for each in done:
                error = each.exception()
                if error is None:
                    return dataset.digest
        raise error or self._nobody()

    def build(self, recipe: Recipe, log: Path) -> Image:
        """On every host that answers; one that cannot build it gets none of its jobs. ``ref`` has what each made."""
        return self._images.build(recipe, self._members.values(), log)

    # Jobs

    def start(self, job: Job) -> Handle:
        try:
            return self._start_somewhere(job)
        finally:
            self._starting.pop(job.name, None)

    def _start_somewhere(self, job: Job) -> Handle:
        refused: dict[str, BackendError] = {}
        while True:
            member = self._place(job, refused)
            if self._is_lost(member):
                self._placements.give_up(job.name, member.name, group=job.group)
                continue
            try:
                return self._start(member, job)
            except (BackendUnreachable, ImageGone):
                raise
            except BackendError as error:  # the host answered: it has not started it
                refused[member.name] = error
                self._placements.forget(job.name)

    def _start(self, member: Member, job: Job) -> Handle:
        data = self._data.send(member, job.dataset).result()
        log = folders.make_private(folders.state_root() / "ssh") / "build.log"
        image = self._images.on(member, job.image, log)
        try:
            handle = member.call(lambda host: host.start(evolve(job, data=data, image=image)))
        except ImageGone:
            self._images.forget(member, job.image)
            raise
        return _outer(member, handle)

    def _place(self, job: Job, refused: Mapping[str, BackendError]) -> Member:
        """The host of a job: where it was placed before, or the one with most room."""
        before = list(self._starting.items())  # what ends to start from now on may not be in the loads yet
        known = self._placements.host_of(job.name) is not None
        loads = {} if known else self._loads([each for name, each in self._members.items() if name not in refused])
        with self._placing:
            placed = self._placements.host_of(job.name)
            if placed is None:
                starting = dict([*before, *self._starting.items()])
                rooms = {member.name: self._room(member, load, job, starting) for member, load in loads.items()}
                free = {name: room for name, room in rooms.items() if room is not None}
                if not free:
                    if len(refused) == len(self._members):
                        raise next(iter(refused.values()))
                    raise BackendUnreachable(f"no host has room for {job.name} now", fix="It waits for one.")
                placed = self._placements.place(job.name, max(free, key=lambda name: free[name]))
            self._starting[job.name] = (placed, job.resources)
        if placed not in self._members:
            raise BackendError(
                f"{job.name} was started on {placed}, which is none of the hosts given", fix=f"Add {placed} to them."
            )
        return self._members[placed]

    def _loads(self, members: Sequence[Member]) -> dict[Member, dict[str, float]]:
        """Of those that answer. A host that is silent is not waited for when another one has answered."""
        asked = {begin(f"ask {member.name}", member.load): member for member in members}
        left = wait(asked, return_when=FIRST_COMPLETED).not_done
        while left and all(each.exception() for each in asked if each.done()):
            left = wait(left, return_when=FIRST_COMPLETED).not_done
        wait(left, timeout=_SLOW)
        return {member: each.result() for each, member in asked.items() if each.done() and not each.exception()}

    def _room(
        self, member: Member, load: dict[str, float], job: Job, starting: Mapping[str, tuple[str, Resources]]
    ) -> float | None:
        """A host that has the data already is preferred to any that has not."""
        room = member.room(
            load, job.resources, [resources for name, resources in starting.values() if name == member.name]
        )
        return None if room is None else room + self._data.is_on(member, job.dataset)

    def list_jobs(self, group: str) -> dict[str, Handle]:
        """On the hosts that answer. A job on another one is not started twice: see ``Placements``."""
        out: dict[str, Handle] = {}
        for name, found in self._of_all(lambda host: host.list_jobs(group)).items():
            member = self._members[name]
            for job, handle in found.items():
                if not self._placements.is_given_up(job, name):
                    out[job] = _outer(member, handle)
        return out

    def status(self, handles: Sequence[Handle]) -> dict[Handle, JobStatus]:
        by_host: dict[str, list[Handle]] = {}
        for handle in handles:
            by_host.setdefault(handle.id.partition(" ")[0], []).append(handle)
        out: dict[Handle, JobStatus] = {}

        def ask(name: str) -> None:
            member = self._members.get(name)
            if member is None:
                why = f"its host {name} is none of the hosts given"
                out.update(dict.fromkeys(by_host[name], JobStatus(phase="pending", reason=why)))
                return
            out.update(self._status_on(member, by_host[name]))

        with ThreadPoolExecutor(max_workers=max(1, len(by_host))) as pool:
            list(pool.map(ask, by_host))
        return {handle: out[handle] for handle in handles}

    def _status_on(self, member: Member, handles: Sequence[Handle]) -> dict[Handle, JobStatus]:
        gone = JobStatus(phase="gone", reason=f"{member.name} did not answer for too long: it was given up")
        left = [handle for handle in handles if not self._placements.is_given_up(handle.name, member.name)]
        out = dict.fromkeys((handle for handle in handles if handle not in left), gone)
        inner = {handle: _inner(handle) for handle in left}
        try:
            found = member.call(lambda host: host.status(tuple(inner.values()))) if left else {}
        except BackendUnreachable:
            if self._is_lost(member):
                for handle in left:
                    self._placements.give_up(handle.name, member.name, handle=inner[handle].id)
                return out | dict.fromkeys(left, gone)
            seen = JobStatus(phase="running", reason=f"{member.name} does not answer; its jobs run on")
            return out | dict.fromkeys(left, seen)
        return out | {handle: found[inner[handle]] for handle in left}

    def logs(self, handle: Handle, offset: int = 0, follow: bool = False) -> Iterator[bytes]:
        member = self._member(handle)
        yield from member.call(lambda host: host.logs(_inner(handle), offset, follow))

    def fetch(self, handle: Handle, globs: Sequence[str], into: Path, max_bytes: int, max_files: int) -> Fetched:
        member = self._member(handle)
        if self._is_lost(member):
            raise BackendError(f"{member.name} has not answered for long, so that nothing of {handle.name} is fetched")
        return member.call(lambda host: host.fetch(_inner(handle), globs, into, max_bytes, max_files))

    def stop(self, handle: Handle, grace: float) -> None:
        member = self._member(handle)
        if not self._placements.is_given_up(handle.name, member.name):
            member.call(lambda host: host.stop(_inner(handle), grace))

    def remove(self, handle: Handle) -> None:
        member = self._member(handle)
        if not self._placements.is_given_up(handle.name, member.name):
            member.call(lambda host: host.remove(_inner(handle)))
            self._placements.forget(handle.name)

    def home(self, job_name: str) -> PurePosixPath:
        if self._isolated:
            return HOME
        homes = set(self._of_all(lambda host: host.home(job_name)).values())
        if len(homes) > 1:
            raise BackendError(
                "without a sandbox, jobs see the folders of their host, and these differ",
                fix="Set state to the same folder on every host, or leave out isolation=none.",
            )
        return homes.pop()

    def gateway_url(self, job_name: str) -> str:
        return relaying.GATEWAY_URL

    # Members

    def _returned(self, member: Member) -> None:
        """A host answers again: what was given up on it ends now."""

        def end(host: Host, job: str, handle: str | None, group: str | None) -> None:
            known = Handle(name=job, id=handle) if handle is not None else host.list_jobs(group or "").get(job)
            if known is not None:
                host.remove(known)

        for job, handle, group in self._placements.given_up(member.name):
            try:
                member.call(partial(end, job=job, handle=handle, group=group))
            except BackendUnreachable:
                return
            except BackendError:  # it is tried again when the next controller comes
                continue
            self._placements.settle(job, member.name)

    def _is_lost(self, member: Member) -> bool:
        """Are its jobs given up? Not if no host answers: then it is our own network that is down."""
        others = (each for each in self._members.values() if each is not member)
        return (member.down or 0) > _GIVEN_UP and any(each.down is None for each in others)

    def _member(self, handle: Handle) -> Member:
        name = handle.id.partition(" ")[0]
        try:
            return self._members[name]
        except KeyError:
            raise BackendError(
                f"{handle.name} is on {name}, which is none of the hosts given", fix=f"Add {name} to them."
            ) from None

    def _of_all(self, work: Callable[[Host], T]) -> dict[str, T]:
        """By host, of those that answer. Raises BackendError if none does."""
        errors: list[BackendError] = []

        def one(member: Member) -> list[T]:
            try:
                return [member.call(work)]
            except BackendError as error:
                errors.append(error)
                return []

        out = {member.name: result[0] for member, result in ask_all(self._members.values(), one) if result}
        if not out:
            raise next((error for error in errors if not isinstance(error, BackendUnreachable)), self._nobody())
        return out

    def _nobody(self) -> BackendUnreachable:
        why = "; ".join(dict.fromkeys(member.why for member in self._members.values() if member.why))
        return BackendUnreachable(f"no host answers: {why or ', '.join(self._members)}", fix="Is the network up?")


def _outer(member: Member, handle: Handle) -> Handle:
    """A handle that names its host."""
    return Handle(name=handle.name, id=f"{member.name} {handle.id}")


def _inner(handle: Handle) -> Handle:
    """The handle as its host knows it."""
    return Handle(name=handle.name, id=handle.id.partition(" ")[2])
