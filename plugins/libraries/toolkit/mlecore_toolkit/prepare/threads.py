"""Runs a function on all cores, with results in order."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def in_threads(function: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
    """``map(function, items)`` in threads, for work that mostly runs without the GIL.

    At most two items per core are in progress, so that memory does not grow with the number of items.
    """
    cores = os.cpu_count() or 1
    waiting: deque[Future[R]] = deque()
    with ThreadPoolExecutor(cores) as pool:
        for item in items:
            waiting.append(pool.submit(function, item))
            if len(waiting) > 2 * cores:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
