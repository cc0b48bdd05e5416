"""Threads for what blocks: bounded, and called back in the thread that waits."""

from __future__ import annotations

import sys
import threading
import time

import pytest

from mlecore.controller.workers import Background


def wait(background: Background, condition, seconds: float = 10.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        background.wait(time.monotonic() + 0.05)
        background.run_timers()


def test_results_come_back_to_the_thread_that_waits():
    background, seen = Background(start=2), []
    for number in (1, 0):
        background.submit(
            "start",
            lambda number=number: 1 / number,
            lambda result: seen.append((result, threading.current_thread())),
            lambda error: seen.append((type(error), threading.current_thread())),
        )
    wait(background, lambda: len(seen) == 2)
    assert {result for result, _ in seen} == {1.0, ZeroDivisionError}
    assert {thread for _, thread in seen} == {threading.current_thread()}
    assert background.busy("start") == 0


def test_no_more_threads_than_asked_for():
    background, lock, now, most, done = Background(start=3), threading.Lock(), [0], [0], []

    def work() -> None:
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        time.sleep(0.01)
        with lock:
            now[0] -= 1

    for _ in range(20):
        background.submit("start", work, done.append, done.append)
    wait(background, lambda: len(done) == 20)
    assert most[0] <= 3 and done == [None] * 20


def test_work_that_calls_exit_has_failed():
    background, failed = Background(start=1), []
    background.submit("start", lambda: sys.exit(0), print, failed.append)
    wait(background, lambda: failed)
    assert str(failed[0]) == "it called sys.exit(0)"


def test_the_end_of_the_process_is_raised_where_it_is_waited_for():
    background = Background(start=1)

    def end() -> None:
        raise KeyboardInterrupt

    background.submit("start", end, print, print)
    with pytest.raises(KeyboardInterrupt):
        wait(background, lambda: False)


def test_timers_run_in_the_order_of_their_time():
    background, seen = Background(start=1), []
    background.later(0.03, lambda: seen.append("second"))
    background.later(0.0, lambda: seen.append("first"))
    background.run_timers()
    assert seen == ["first"]
    began = time.monotonic()
    background.wait(began + 60)  # until the next timer
    assert time.monotonic() - began < 30
    wait(background, lambda: len(seen) == 2)


def test_drained_work_is_not_called_back():
    background, called, worked = Background(start=1), [], threading.Event()
    background.submit("start", worked.set, called.append, called.append)
    background.drain(10.0)
    assert worked.is_set() and not called and background.busy("start") == 0
    background.submit("start", lambda: time.sleep(60), called.append, called.append)
    began = time.monotonic()
    background.drain(0.05)
    assert time.monotonic() - began < 10
