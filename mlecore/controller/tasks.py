"""Coroutines that one thread advances, and the blocking calls that they await, in a limited number of other threads.

asyncio does not fit: its loop cannot run in a notebook's thread, which has one, and its threads end while what they
started must live on (backends start processes that die with the thread that started them).
"""

from __future__ import annotations

import heapq
import itertools
import queue
import threading
import time
from collections.abc import Callable, Coroutine, Generator
from functools import partial
from typing import Any, Generic, Literal, TypeVar

T = TypeVar("T")
Pool = Literal["start", "stop", "finish", "grade", "provide", "poll", "detect"]


class Promise(Generic[T]):
    """A value that comes later, awaited by one coroutine."""

    def __init__(self) -> None:
        self.resume: Callable[[], None] | None = None
        self._values: list[T] = []  # the one, once it is there
        self._error: BaseException | None = None

    def resolve(self, *value: T, error: BaseException | None = None) -> None:
        """Continue the coroutine with a value, or have it raise ``error``."""
        self._values, self._error = list(value), error
        if self.resume:
            self.resume()

    def __await__(self) -> Generator[Promise[T], None, T]:
        if not self._values and not self._error:
            yield self
        if self._error:
            raise self._error
        return self._values[0]


class Tasks:
    """Coroutines and what they await. All methods are for one thread, so that coroutines may change what it owns
    without a lock."""

    def __init__(self, **sizes: int) -> None:
        """``sizes``: how many threads each pool may have."""
        # Not a SimpleQueue: in CPython 3.11 its get() never returns if a signal comes just as the timeout ends.
        self._results: _Results = queue.Queue()
        self._pools = {name: _Threads(name, size, self._results) for name, size in sizes.items()}
        self._timers: list[tuple[float, int, Promise[None]]] = []
        self._order = itertools.count()

    def begin(self, coroutine: Coroutine[Any, None, object]) -> None:
        """Advance a coroutine to its first await; ``wait`` does the rest. What it raises is raised there, or here."""
        try:
            promise = coroutine.send(None)
        except StopIteration:
            return
        promise.resume = partial(self.begin, coroutine)

    def call(self, pool: Pool, function: Callable[[], T]) -> Promise[T]:
        """The result of ``function``, called in a thread of the pool."""
        promise: Promise[T] = Promise()
        self._pools[pool].submit(function, promise)
        return promise

    def sleep(self, seconds: float) -> Promise[None]:
        promise: Promise[None] = Promise()
        heapq.heappush(self._timers, (time.monotonic() + seconds, next(self._order), promise))
        return promise

    def busy(self, *pools: Pool) -> int:
        """How many calls have not returned to their coroutines."""
        return sum(self._pools[name].busy for name in pools)

    def wait(self, until: float) -> None:
        """Continue coroutines; if none can continue, wait for one that can, or ``until`` (monotonic)."""
        until = min(until, self._timers[0][0]) if self._timers else until
        result = self._next(max(0.0, until - time.monotonic()))
        while result:
            result()
            result = self._next(0.0)
        while self._timers and self._timers[0][0] <= time.monotonic():
            heapq.heappop(self._timers)[2].resolve(None)

    def drain(self, seconds: float) -> None:
        """Wait so long for calls in progress; their coroutines do not continue."""
        deadline = time.monotonic() + seconds
        while self.busy(*self._pools) and time.monotonic() < deadline:  # type: ignore[arg-type]
            self._next(0.1)

    def _next(self, seconds: float) -> Callable[[], None] | None:
        try:
            threads, result = self._results.get(timeout=seconds)
        except queue.Empty:
            return None
        threads.busy -= 1
        return result


class _Threads:
    """At most ``size`` threads. They are daemons: the controller does not wait for them at its end."""

    def __init__(self, name: str, size: int, results: _Results) -> None:
        self.busy = 0  # submitted and not yet taken from the results; touched by the owner's thread alone
        self._name = name
        self._size = size
        self._results = results
        self._work: queue.SimpleQueue[tuple[Callable[[], Any], Promise[Any]]] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []

    def submit(self, function: Callable[[], T], promise: Promise[T]) -> None:
        self.busy += 1
        if len(self._threads) < min(self._size, self.busy):
            thread = threading.Thread(target=self._serve, name=f"{self._name}-{len(self._threads)}", daemon=True)
            self._threads.append(thread)
            thread.start()
        self._work.put((function, promise))

    def _serve(self) -> None:
        while True:
            function, promise = self._work.get()
            try:
                result = partial(promise.resolve, function())
            except SystemExit as error:  # a backend's, or of a library that it uses: no reason to end the controller
                result = partial(promise.resolve, error=RuntimeError(f"it called sys.exit({error.code!r})"))
            except BaseException as error:
                result = partial(promise.resolve, error=error)
            self._results.put((self, result))
            del function, promise, result  # else what they hold would live until the next piece of work


_Results = queue.Queue[tuple[_Threads, Callable[[], None]]]
