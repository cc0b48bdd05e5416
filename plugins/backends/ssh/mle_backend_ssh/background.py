"""Work in threads: on all hosts at once, or beside what goes on."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

H = TypeVar("H")
T = TypeVar("T")


def ask_all(hosts: Collection[H], work: Callable[[H], T]) -> list[tuple[H, T]]:
    """Each host with the result of ``work`` for it, all asked at once."""
    with ThreadPoolExecutor(max_workers=max(1, len(hosts))) as threads:
        return list(zip(hosts, threads.map(work, hosts), strict=True))


def run_in_background(name: str, work: Callable[[], T]) -> Future[T]:
    """The result of ``work``, from a thread that the end of this process does not wait for."""
    future: Future[T] = Future()

    def fill() -> None:
        try:
            future.set_result(work())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=fill, name=name, daemon=True).start()
    return future
