"""A bounded number of threads for steps that block. They are daemons: the end of the controller waits for none."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Any

Done = Callable[[Any, BaseException | None], None]
Results = queue.SimpleQueue[tuple[Done, Any, BaseException | None]]


class Workers:
    """Runs functions in at most ``size`` threads; results wait in ``results`` for the thread that owns the state."""

    def __init__(self, size: int, name: str, results: Results) -> None:
        self._size = size
        self._name = name
        self._work: queue.SimpleQueue[tuple[Callable[[], Any], Done]] = queue.SimpleQueue()
        self._results = results
        self._threads: list[threading.Thread] = []
        self.busy = 0  # submitted and not yet taken from results; touched by the owner's thread alone

    def submit(self, function: Callable[[], Any], done: Done) -> None:
        """Have ``function`` called; ``done(result, error)`` is then found in ``results``."""
        self.busy += 1
        if len(self._threads) < min(self._size, self.busy):
            thread = threading.Thread(target=self._serve, name=f"{self._name}-{len(self._threads)}", daemon=True)
            self._threads.append(thread)
            thread.start()

        def finish(result: Any, error: BaseException | None) -> None:
            self.busy -= 1
            done(result, error)

        self._work.put((function, finish))

    def _serve(self) -> None:
        while True:
            function, done = self._work.get()
            try:
                result = function()
            except BaseException as error:
                self._results.put((done, None, error))
            else:
                self._results.put((done, result, None))
            del function, done
