"""Many small pieces of work, shared among forks of this process: threads would wait for each other's Python."""

from __future__ import annotations

import os
import pickle
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import NoReturn, TypeVar

T = TypeVar("T")
R = TypeVar("R")

_WORTHWHILE = 500  # items; it takes as long to fork as to unpack some hundred
_AT_ONCE = 32  # results in a message
_WHOLE = 4096  # bytes; a longer message may be mixed with others in the pipe


def in_forks(work: Callable[[T], R], items: Sequence[T], done: Callable[[T, R], None]) -> None:
    """``done(item, work(item))`` for each item, in no order; results are few bytes. Linux only: elsewhere, one by one.

    A fork ends at the first error or long result, and with this process. What none has done is done here, which meets
    the same error.
    """
    left = bytearray(b"\1") * len(items)

    def take(number: int, result: R) -> None:
        left[number] = False
        done(items[number], result)

    _share(work, items, take)
    for number, item in enumerate(items):
        if left[number]:
            done(item, work(item))


def _share(work: Callable[[T], R], items: Sequence[T], take: Callable[[int, R], None]) -> None:
    if sys.platform != "linux":
        return
    forks = min(len(os.sched_getaffinity(0)), len(items) // _WORTHWHILE)
    if forks < 2:
        return
    reader, writer = os.pipe()
    children = []
    with os.fdopen(reader, "rb") as results:
        try:
            with os.fdopen(writer, "wb"), suppress(OSError):  # there may be too many processes
                for first in range(forks):
                    child = os.fork()
                    if child == 0:
                        _work(work, items, range(first, len(items), forks), reader, writer)
                    children.append(child)
            with suppress(EOFError):
                while True:
                    for number, result in pickle.load(results):
                        take(number, result)
        finally:
            for child in children:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)


def _work(work: Callable[[T], R], items: Sequence[T], numbers: range, reader: int, writer: int) -> NoReturn:
    """All forks write to one pipe."""
    try:
        os.close(reader)  # so that writing fails once nobody reads any more
        for start in range(0, len(numbers), _AT_ONCE):
            message = pickle.dumps([(number, work(items[number])) for number in numbers[start : start + _AT_ONCE]])
            if len(message) > _WHOLE:
                break
            os.write(writer, message)
    finally:
        os._exit(0)
