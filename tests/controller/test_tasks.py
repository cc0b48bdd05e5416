"""Coroutines of one thread, and the bounded threads that work for them."""

from __future__ import annotations

import subprocess
import sys
import threading
import time

import pytest

from mlecore.controller.tasks import Tasks


def wait(tasks: Tasks, condition, seconds: float = 10.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        tasks.wait(time.monotonic() + 0.05)


def test_coroutines_continue_in_the_thread_that_waits():
    tasks, seen = Tasks(start=2), []

    async def divide(number: int) -> None:
        try:
            seen.append((await tasks.call("start", lambda: 1 / number), threading.current_thread()))
        except ZeroDivisionError as error:
            seen.append((str(error), threading.current_thread()))

    for number in (1, 0):
        tasks.begin(divide(number))
    wait(tasks, lambda: len(seen) == 2)
    assert {result for result, _ in seen} == {1.0, "division by zero"}
    assert {thread for _, thread in seen} == {threading.current_thread()}
    assert tasks.busy("start") == 0


def test_no_more_threads_than_asked_for():
    tasks, lock, now, most, done = Tasks(start=3), threading.Lock(), [0], [0], []

    def work() -> None:
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        time.sleep(0.01)
        with lock:
            now[0] -= 1

    async def twice() -> None:
        await tasks.call("start", work)
        done.append(await tasks.call("start", work))

    for _ in range(10):
        tasks.begin(twice())
    wait(tasks, lambda: len(done) == 10)
    assert most[0] <= 3 and done == [None] * 10


def test_work_that_calls_exit_has_failed():
    tasks, failed = Tasks(start=1), []

    async def work() -> None:
        try:
            await tasks.call("start", lambda: sys.exit(0))
        except RuntimeError as error:
            failed.append(str(error))

    tasks.begin(work())
    wait(tasks, lambda: failed)
    assert failed == ["it called sys.exit(0)"]


def test_what_a_coroutine_does_not_catch_is_raised_where_it_is_waited_for():
    tasks = Tasks(start=1)

    def end() -> None:
        raise KeyboardInterrupt

    async def work() -> None:
        await tasks.call("start", end)

    tasks.begin(work())
    with pytest.raises(KeyboardInterrupt):
        wait(tasks, lambda: False)


def test_sleepers_wake_in_the_order_of_their_time():
    tasks, seen = Tasks(), []

    async def sleep(seconds: float) -> None:
        await tasks.sleep(seconds)
        seen.append(seconds)

    tasks.begin(sleep(0.03))
    tasks.begin(sleep(0.0))
    tasks.wait(time.monotonic())
    assert seen == [0.0]
    began = time.monotonic()
    tasks.wait(began + 60)  # until the next one wakes
    assert time.monotonic() - began < 30
    wait(tasks, lambda: seen == [0.0, 0.03])


def test_coroutines_do_not_continue_after_drained_work():
    tasks, continued, worked = Tasks(start=1), [], threading.Event()

    async def work(function) -> None:
        continued.append(await tasks.call("start", function))

    tasks.begin(work(worked.set))
    tasks.drain(10.0)
    assert worked.is_set() and not continued and tasks.busy("start") == 0
    tasks.begin(work(lambda: time.sleep(60)))
    began = time.monotonic()
    tasks.drain(0.05)
    assert time.monotonic() - began < 10


SIGNALS = """
import signal, time
from mlecore.controller.tasks import Tasks
signal.signal(signal.SIGALRM, lambda *_: None)
tasks = Tasks()
for number in range(5000):  # a signal from half a timeout before its end to as long after it
    signal.setitimer(signal.ITIMER_REAL, 0.0005 + number % 50 * 0.00001)
    tasks.wait(time.monotonic() + 0.0005)
signal.setitimer(signal.ITIMER_REAL, 0)
"""


def test_a_signal_at_the_end_of_a_wait_does_not_prolong_it():
    """A Ctrl-C that came then was noticed by nobody, and the controller asked its backend nothing more."""
    subprocess.run([sys.executable, "-c", SIGNALS], check=True, timeout=30)
