"""Several hosts as one backend: each job goes to the host with most room, and stays there.

A host that does not answer is set aside. Its jobs run on, and are found again when it answers; after ``_GIVEN_UP``
seconds they count as lost, so that their runs are tried again elsewhere, and are removed when it answers.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from functools import partial
from pathlib import Path, PurePosixPath
from typing import TypeVar

from attrs import evolve

from mlecore.agents import HOME, Recipe
from mlecore.backends import (
    LIMITS,
    Backend,
    Capacity,
    Dataset,
    Demand,
    Fetched,
    Handle,
    Image,
    Job,
    JobStatus,
    Problem,
    Progress,
    Sandbox,
)
from mlecore.errors import BackendError, BackendUnreachable, ImageGone
from mlecore.vm import folders
from mlecore.vm.ssh import checks
from mlecore.vm.ssh.host import Host
from mlecore.vm.ssh.hosts import HostSettings
from mlecore.vm.ssh.members import Member
from mlecore.vm.ssh.placing import Placements
from mlecore.vm.supervise import relaying

T = TypeVar("T")

_GIVEN_UP = 900.0
_WEAKEST = ("absent", "watched", "enforced")


class Pool(Backend):
    """``connect`` makes a Host of its settings. Making a pool contacts none of them."""

    summary = "Other machines, over SSH"

    def __init__(
        self, hosts: Sequence[HostSettings], connect: Callable[[HostSettings], Host], isolated: bool = True
    ) -> None:
        self._members = {each.address: Member(each, connect(each), self._returned) for each in hosts}
        self._isolated = isolated
        self._placements = Placements(folders.state_root())
        self._placing = threading.Lock()
        self._starting: dict[str, tuple[str, Demand]] = {}  # by job: its host, and what it asks for
        self._recipes: dict[str, Recipe] = {}  # by Image.ref
        self._images: dict[tuple[str, str], Image] = {}  # by Image.ref and host
        self._sent: dict[tuple[str, str], Future[str]] = {}  # by a dataset's digest and host
        self._sending = threading.Lock()

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

    def preflight(self, demands: Sequence[Demand] = ()) -> list[Problem]:
        """A host's problem keeps no run from starting as long as another host has none."""
        asked = self._parallel(lambda member: checks.problems(member, demands))
        found = dict(zip(self._members, asked, strict=True))
        one_is_good = any(not any(problem.fatal for problem in problems) for problems in found.values())
        return [
            evolve(problem, what=f"{name}: {problem.what}", fatal=problem.fatal and not one_is_good)
            for name, problems in found.items()
            for problem in problems
        ]

    def inventory(self) -> Sequence[str]:
        return self._parallel(checks.inventory)

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

    def provide(self, dataset: Dataset, progress: Progress) -> str:
        """Returns when one host has the data; the others get them in the background, as fast as they can."""
        sent = {self._send(member, dataset, progress) for member in self._members.values()}
        error: BaseException | None = None
        while sent:
            done, sent = wait(sent, return_when=FIRST_COMPLETED)
            for each in done:
                error = each.exception()
                if error is None:
                    return dataset.digest
        raise error or self._nobody()

    def _send(self, member: Member, dataset: Dataset, progress: Progress) -> Future[str]:
        """The folder there, once it is complete. A transfer that failed is begun again."""
        key = (_identity(dataset), member.name)
        with self._sending:
            known = self._sent.get(key)
            if known is not None and not (known.done() and known.exception()):
                return known
            future = self._sent[key] = Future()

        def send() -> None:
            try:
                future.set_result(member.call(lambda host: host.provide(dataset, progress)))
            except BaseException as error:
                future.set_exception(error)

        threading.Thread(target=send, name=f"send to {member.name}", daemon=True).start()
        return future

    def build(self, recipe: Recipe, log: Path) -> Image:
        """On every host that answers; one that cannot build it gets none of its jobs. ``ref`` has what each made."""
        errors: list[BackendError] = []
        writing = threading.Lock()
        log.parent.mkdir(parents=True, exist_ok=True)

        def build(member: Member) -> Image | None:
            with tempfile.TemporaryDirectory() as folder:
                part = Path(folder) / "build.log"
                try:
                    return member.call(lambda host: host.build(recipe, part))
                except BackendError as error:
                    errors.append(error)
                    return None
                finally:
                    with writing, log.open("ab") as out:
                        out.write(f"== {member.name}\n".encode() + (part.read_bytes() if part.exists() else b""))

        asked = zip(self._members, self._parallel(build), strict=True)
        made = {name: image for name, image in asked if image is not None}
        if not made:
            raise errors[0] if errors else self._nobody()
        ref = json.dumps({name: image.ref for name, image in made.items()})
        self._recipes[ref] = recipe
        digests = sorted({image.digest for image in made.values()})
        installed = tuple(dict.fromkeys(line for image in made.values() for line in image.installed))
        digest = digests[0] if len(digests) == 1 else hashlib.sha256(json.dumps(digests).encode()).hexdigest()
        return Image(ref=ref, digest=digest, installed=installed)

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
        data = self._send(member, job.dataset, lambda *_: None).result()
        log = folders.make_private(folders.state_root() / "ssh") / "build.log"
        image = self._image(member, job.image, log)
        try:
            handle = member.call(lambda host: host.start(evolve(job, data=data, image=image)))
        except ImageGone:
            self._images.pop((job.image.ref, member.name), None)
            raise
        return _outer(member, handle)

    def _image(self, member: Member, image: Image, log: Path) -> Image:
        """What a host starts; one that did not answer when the others built it builds it now."""
        made = json.loads(image.ref)
        if member.name in made:
            return evolve(image, ref=made[member.name])
        known = self._images.get((image.ref, member.name))
        if known is None:
            recipe = self._recipes.get(image.ref)
            if recipe is None:
                raise BackendError(f"{member.name} has not built what the agent starts from")
            known = self._images[image.ref, member.name] = member.call(lambda host: host.build(recipe, log))
        return known

    def _place(self, job: Job, refused: Mapping[str, BackendError]) -> Member:
        """The host of a job: where it was placed before, or the one with most room."""
        with self._placing:
            placed = self._placements.host_of(job.name)
            if placed is None:
                rooms = {}
                for member in self._members.values():
                    if member.name not in refused and (room := self._room(member, job)) is not None:
                        rooms[member.name] = room
                if not rooms:
                    if len(refused) == len(self._members):
                        raise next(iter(refused.values()))
                    raise BackendUnreachable(f"no host has room for {job.name} now", fix="It waits for one.")
                best = max(rooms, key=lambda name: rooms[name])
                placed = self._placements.place(job.name, best)
            self._starting[job.name] = (placed, job.demand)
        if placed not in self._members:
            raise BackendError(
                f"{job.name} was started on {placed}, which is none of the hosts given", fix=f"Add {placed} to them."
            )
        return self._members[placed]

    def _room(self, member: Member, job: Job) -> float | None:
        """A host that has the data already is preferred to any that has not."""
        try:
            starting = [demand for name, demand in self._starting.values() if name == member.name]
            room = member.room(job.demand, starting)
        except BackendError:
            return None
        sent = self._sent.get((_identity(job.dataset), member.name))
        there = sent is not None and sent.done() and not sent.exception()
        return None if room is None else room + there

    def find(self, group: str) -> dict[str, Handle]:
        """On the hosts that answer. A job on another one is not started twice: see ``Placements``."""
        out: dict[str, Handle] = {}
        for name, found in self._of_all(lambda host: host.find(group)).items():
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
            known = Handle(name=job, id=handle) if handle is not None else host.find(group or "").get(job)
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

        found = dict(zip(self._members, self._parallel(one), strict=True))
        out = {name: result[0] for name, result in found.items() if result}
        if not out:
            raise next((error for error in errors if not isinstance(error, BackendUnreachable)), self._nobody())
        return out

    def _parallel(self, work: Callable[[Member], T]) -> list[T]:
        with ThreadPoolExecutor(max_workers=len(self._members)) as pool:
            return list(pool.map(work, self._members.values()))

    def _nobody(self) -> BackendUnreachable:
        why = "; ".join(dict.fromkeys(member.why for member in self._members.values() if member.why))
        return BackendUnreachable(f"no host answers: {why or ', '.join(self._members)}", fix="Is the network up?")


def _identity(dataset: Dataset) -> str:
    return f"{dataset.competition} {dataset.edition} {dataset.digest}"


def _outer(member: Member, handle: Handle) -> Handle:
    """A handle that names its host."""
    return Handle(name=handle.name, id=f"{member.name} {handle.id}")


def _inner(handle: Handle) -> Handle:
    """The handle as its host knows it."""
    return Handle(name=handle.name, id=handle.id.partition(" ")[2])
