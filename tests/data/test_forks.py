"""Work shared among forks is done once, whatever becomes of the forks, and none outlives its parent."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mlecore.data.forks import in_forks

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="other systems have no safe forks")
ITEMS = list(range(3000))


@pytest.fixture(autouse=True)
def forked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The processes that were forked."""
    fork, found = os.fork, []

    def forks() -> int:
        if child := fork():
            found.append(child)
        return child

    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2})
    monkeypatch.setattr(os, "fork", forks)
    return found


def are_gone(processes: list[int]) -> bool:
    return not any(Path("/proc", str(process)).exists() for process in processes)


def test_each_item_is_done_once_by_several_processes(forked: list[int]) -> None:
    found: list[tuple[int, tuple[int, int]]] = []
    in_forks(lambda item: (item * 7, os.getpid()), ITEMS, lambda *pair: found.append(pair))
    assert sorted((item, result) for item, (result, _) in found) == [(item, item * 7) for item in ITEMS]
    assert {process for _, (_, process) in found} == set(forked)
    assert len(forked) == 3 and are_gone(forked)


def test_few_items_are_worth_no_fork() -> None:
    found = []
    in_forks(lambda _: os.getpid(), ITEMS[:900], lambda *pair: found.append(pair))
    assert found == [(item, os.getpid()) for item in ITEMS[:900]]
    in_forks(lambda _: None, [], lambda *_: pytest.fail())


def test_an_error_is_raised_here(forked: list[int]) -> None:
    found = []

    def work(item: int) -> int:
        if item == 1234:
            raise ValueError(f"item {item}")
        return item

    with pytest.raises(ValueError, match="item 1234"):
        in_forks(work, ITEMS, lambda *pair: found.append(pair))
    assert len(found) == len(set(found)) > 2000
    assert len(forked) == 3 and are_gone(forked)


@pytest.mark.parametrize("end", [lambda: os._exit(0), lambda: os.kill(os.getpid(), signal.SIGKILL), sys.exit])
def test_what_a_fork_leaves_is_done_here(end) -> None:  # type: ignore[no-untyped-def]
    here, found = os.getpid(), []

    def work(item: int) -> int:
        if item % 500 == 77 and os.getpid() != here:
            end()
        return item

    in_forks(work, ITEMS, lambda item, result: found.append((item, result)))
    assert sorted(found) == [(item, item) for item in ITEMS]


def test_results_too_long_for_a_message_are_made_here() -> None:
    found = []
    in_forks(lambda item: bytes(5000) if item == 50 else b"", ITEMS, lambda *pair: found.append(pair))
    assert sorted(map(len, (result for _, result in found))) == [0] * 2999 + [5000]


def test_without_forks_all_is_done_here(monkeypatch: pytest.MonkeyPatch) -> None:
    def fork() -> int:
        raise BlockingIOError("too many processes")

    monkeypatch.setattr(os, "fork", fork)
    found = []
    in_forks(lambda _: os.getpid(), ITEMS, lambda *pair: found.append(pair))
    assert found == [(item, os.getpid()) for item in ITEMS]


def test_an_interrupt_ends_the_forks(forked: list[int]) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        in_forks(lambda _: time.sleep(0.001), ITEMS, interrupted)
    assert len(forked) == 3 and are_gone(forked)


def test_forks_end_with_a_process_that_is_killed(tmp_path: Path) -> None:
    code = """
import os, sys, time
from mlecore.data.forks import in_forks
os.sched_getaffinity = lambda _: {0, 1}
def work(item):
    open(f"{sys.argv[1]}/{os.getpid()}", "w").close()
    time.sleep(0.005)
in_forks(work, range(3000), lambda *_: None)
"""
    with subprocess.Popen([sys.executable, "-c", code, str(tmp_path)]) as process:
        while len(list(tmp_path.iterdir())) < 2:
            assert process.poll() is None
            time.sleep(0.01)
        process.kill()
    deadline = time.monotonic() + 20
    while not are_gone([int(path.name) for path in tmp_path.iterdir()]):
        assert time.monotonic() < deadline
        time.sleep(0.05)
