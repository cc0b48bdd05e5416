"""Coroutines of one thread, and the bounded threads that work for them."""

from __future__ import annotations

import subprocess
import sys
import threading
import time

from mlecore.controller.tasks import Tasks


def wait(tasks: Tasks, condition, seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        tasks.wait(time.monotonic() + 0.05)


def test_coroutines_do_not_continue_after_drained_work():
    tasks, continued, worked = Tasks(start=1), [], threading.Event()

    async def work(function) -> None:
        continued.append(await tasks.call("start", function))

    tasks.begin(work(worked.set))
    tasks.drain(60.0)
    assert worked.is_set() and not continued and tasks.busy("start") == 0
    tasks.begin(work(lambda: time.sleep(60)))
    began = time.monotonic()
    tasks.drain(0.05)
    assert time.monotonic() - began < 50


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
    subprocess.run([sys.executable, "-c", SIGNALS], check=True, timeout=300)
