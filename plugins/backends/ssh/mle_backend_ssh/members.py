"""A host of the pool: it is set aside while it does not answer, and asked in the background until it does."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from mle_backend_ssh.host import Host
from mle_backend_ssh.hosts import HostSettings
from mlecore.backends import Capacity, Resources
from mlecore.errors import BackendError, BackendUnreachable

T = TypeVar("T")

PAUSE = 15.0  # seconds between attempts to reach a host that does not answer


class Member:
    """One host. ``returned`` is called when it answers for the first time, and after it did not. Thread-safe."""

    def __init__(self, settings: HostSettings, host: Host, returned: Callable[[Member], None]) -> None:
        self.settings = settings
        self.name = settings.address
        self._host = host
        self._returned = returned
        self._lock = threading.Lock()
        self._answered = False  # ever
        self._down_since: float | None = None
        self._why = ""
        self._capacity: Capacity | None = None

    def call(self, work: Callable[[Host], T]) -> T:
        """What ``work`` returns. Raises BackendUnreachable at once while the host is set aside."""
        if self.down is not None:
            raise BackendUnreachable(self._why, fix="It is asked again by itself.")
        try:
            result = work(self._host)
        except BackendUnreachable as error:
            self._set_aside(error)
            raise
        with self._lock:
            first, self._answered = not self._answered, True
        if first:
            self._returned(self)
        return result

    @property
    def down(self) -> float | None:
        """For how many seconds it has not answered; None: it answers, as far as is known."""
        since = self._down_since
        return None if since is None else time.monotonic() - since

    @property
    def why(self) -> str:
        """Why it is set aside."""
        return self._why

    def capacity(self) -> Capacity:
        """What it has; asked once."""
        if self._capacity is None:
            self._capacity = self.call(lambda host: host.capacity())
        return self._capacity

    def load(self) -> dict[str, float]:
        """What jobs use there now; see ``remote.survey``. Its capacity is known afterwards, too."""
        self.capacity()
        return self.call(lambda host: host.load())

    def room(self, load: Mapping[str, float], resources: Resources, starting: Sequence[Resources] = ()) -> float | None:
        """Which part of it is free for a job that needs ``resources``, from 0 to 1; None: it has no room for it now.

        ``load`` is what ``load()`` returned; ``starting`` are the needs of jobs about to be started there.
        """
        have, slots = self.capacity(), self.settings.slots
        jobs = int(load["jobs"]) + len(starting)
        rest = [
            (have.cpus, load["cpus"] + sum(each.cpus or 0 for each in starting), resources.cpus or 0),
            (have.memory, load["memory"] + sum(each.memory or 0 for each in starting), resources.memory or 0),
            (len(have.gpus), load["gpus"] + sum(each.gpus for each in starting), resources.gpus),
            *([(slots, jobs, 1)] if slots is not None else []),
        ]
        if any(taken + asked > there for there, taken, asked in rest if asked):
            return None
        shares = [taken / there for there, taken, _ in rest if there]
        return 1 - min(1.0, max([*shares, jobs / (jobs + 16)]))  # jobs without limits are spread, too

    def _set_aside(self, error: BackendError) -> None:
        with self._lock:
            if self._down_since is not None:
                return
            self._down_since, self._why = time.monotonic(), error.message
        threading.Thread(target=self._ask_until_it_answers, name=f"ask {self.name}", daemon=True).start()

    def _ask_until_it_answers(self) -> None:
        while True:
            time.sleep(PAUSE)
            try:
                self._host.load()
            except BackendUnreachable as error:
                self._why = error.message
                continue
            except BackendError:  # it answers, if only with an error, which the next request shows
                pass
            break
        with self._lock:
            self._down_since, self._answered = None, True
        self._returned(self)


def ask_all(members: Collection[Member], work: Callable[[Member], T]) -> Iterable[tuple[Member, T]]:
    """Each host with what ``work`` returns for it, all asked at once."""
    with ThreadPoolExecutor(max_workers=len(members)) as threads:
        return list(zip(members, threads.map(work, members), strict=True))


def begin(name: str, work: Callable[[], T]) -> Future[T]:
    """What ``work`` will return, from a thread that the end of this process does not wait for."""
    future: Future[T] = Future()

    def fill() -> None:
        try:
            future.set_result(work())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=fill, name=name, daemon=True).start()
    return future
