"""Blocking work in a limited number of threads, and timers; all callbacks are in one thread."""

from __future__ import annotations

import heapq
import itertools
import queue
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any, Literal, TypeVar

T = TypeVar("T")
Pool = Literal["start", "stop", "finish", "grade", "provide", "poll", "detect"]


class Background:
    """Runs functions in pools of threads; their results wait for the thread that calls ``wait``.

    All methods are for that one thread, so that callbacks may change what it owns without a lock.
    """

    def __init__(self, **sizes: int) -> None:
        self._results: _Results = queue.SimpleQueue()
        self._pools = {name: _Threads(name, size, self._results) for name, size in sizes.items()}
        self._timers: list[tuple[float, int, Callable[[], None]]] = []
        self._order = itertools.count()

    def submit(
        self,
        pool: Pool,
        function: Callable[[], T],
        done: Callable[[T], object],
        failed: Callable[[Exception], object],
    ) -> None:
        """Call ``function`` in a thread, then ``done`` with its result or ``failed`` with what it raised.

        What is neither an Exception nor SystemExit is raised in ``wait``.
        """
        self._pools[pool].submit(function, done, failed)

    def later(self, seconds: float, function: Callable[[], None]) -> None:
        """Let ``run_timers`` call ``function`` when its time has come."""
        heapq.heappush(self._timers, (time.monotonic() + seconds, next(self._order), function))

    def busy(self, *pools: Pool) -> int:
        """How many submitted functions have not been called back."""
        return sum(self._pools[name].busy for name in pools)

    def run_timers(self) -> None:
        while self._timers and self._timers[0][0] <= time.monotonic():
            heapq.heappop(self._timers)[2]()

    def wait(self, until: float) -> None:
        """Call back with finished work; if there is none, wait for it, for the next timer, or ``until`` (monotonic)."""
        until = min(until, self._timers[0][0]) if self._timers else until
        result = self._next(max(0.0, until - time.monotonic()))
        while result:
            result()
            result = self._next(0.0)

    def drain(self, seconds: float) -> None:
        """Wait so long for work in progress; its results are not called back."""
        deadline = time.monotonic() + seconds
        while self.busy(*self._pools) and time.monotonic() < deadline:  # type: ignore[arg-type]
            self._next(0.1)

    def _next(self, seconds: float) -> Callable[[], object] | None:
        try:
            threads, callback = self._results.get(timeout=seconds)
        except queue.Empty:
            return None
        threads.busy -= 1
        return callback


class _Threads:
    """At most ``size`` threads. They are daemons: the controller does not wait for them at its end."""

    def __init__(self, name: str, size: int, results: _Results) -> None:
        self.busy = 0  # submitted and not yet taken from the results; touched by the owner's thread alone
        self._name = name
        self._size = size
        self._results = results
        self._work: queue.SimpleQueue[tuple[Callable[[], Any], Callable[..., object], Callable[..., object]]]
        self._work = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []

    def submit(
        self, function: Callable[[], T], done: Callable[[T], object], failed: Callable[[Exception], object]
    ) -> None:
        self.busy += 1
        if len(self._threads) < min(self._size, self.busy):
            thread = threading.Thread(target=self._serve, name=f"{self._name}-{len(self._threads)}", daemon=True)
            self._threads.append(thread)
            thread.start()
        self._work.put((function, done, failed))

    def _serve(self) -> None:
        while True:
            function, done, failed = self._work.get()
            callback: Callable[[], object]
            try:
                callback = partial(done, function())
            except Exception as error:
                callback = partial(failed, error)
            except SystemExit as error:  # a backend's, or of a library that it uses: no reason to end the controller
                callback = partial(failed, RuntimeError(f"it called sys.exit({error.code!r})"))
            except BaseException as error:
                callback = partial(_raise, error)
            self._results.put((self, callback))
            del function, done, failed, callback  # else what they hold would live until the next piece of work


_Results = queue.SimpleQueue[tuple[_Threads, Callable[[], object]]]


def _raise(error: BaseException) -> None:
    raise error
