"""Who may write into a group: one at a time, and every other gets an error that names it."""

from __future__ import annotations

import errno
import fcntl
import json
import multiprocessing
import os
import shutil
import signal
import socket
import time
from pathlib import Path

import pytest

from mlecore.runs.lock import GroupLock, LockLost, holder
from mlecore.util import locks
from mlecore.util.locks import LockHeld


@pytest.fixture
def group(tmp_path: Path) -> Path:
    folder = tmp_path / "g"
    folder.mkdir()
    return folder


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(locks, "PATIENCE", 0.2)


@pytest.fixture
def no_flock(monkeypatch):
    def refuse(descriptor, operation):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)


def _hold(group: Path, ready) -> None:
    with GroupLock(group):
        ready.set()
        time.sleep(600)


def test_the_second_gets_an_error_that_names_the_first(group):
    with GroupLock(group), pytest.raises(LockHeld, match=f"process {os.getpid()} on host {socket.gethostname()}"):
        GroupLock(group).acquire()
    assert holder(group) is None
    with GroupLock(group):
        assert holder(group)["pid"] == os.getpid()


def test_killed_holder_leaves_a_free_lock(group):
    context = multiprocessing.get_context("fork")
    ready = context.Event()
    process = context.Process(target=_hold, args=(group, ready))
    process.start()
    assert ready.wait(60)
    with pytest.raises(LockHeld, match=f"process {process.pid}"):
        GroupLock(group).acquire()
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    began = time.monotonic()
    with GroupLock(group):
        assert time.monotonic() - began < locks.PATIENCE / 2


def test_removed_lock_stops_its_holder(group):
    with GroupLock(group) as lock:
        lock.path.unlink()
        with pytest.raises(LockLost, match="removed or taken over"):
            lock.beat(now=True)


def test_disk_that_is_away_for_a_minute_costs_nothing(group):
    with GroupLock(group) as lock:
        away = group.with_name("away")
        group.rename(away)
        lock.beat(now=True)
        away.rename(group)
        lock.beat(now=True)


def test_full_disk_does_not_lose_the_lock(group, monkeypatch):
    with GroupLock(group) as lock:
        monkeypatch.setattr(os, "pwrite", lambda *a: (_ for _ in ()).throw(OSError(errno.ENOSPC, "full")))
        lock.beat(now=True)


def _write_other_host(group: Path, beat: int) -> None:
    values = {"host": "elsewhere", "pid": 7, "token": "t", "beat": beat, "at": "now"}
    (group / "controller.lock.holder").write_text(json.dumps(values))


def _hold_marker(group: Path, host: str) -> None:
    """As SoftFileLock of another process would."""
    (group / "controller.lock.exclusive").write_text(f"{2**22 + 5}\n{host}\n")


@pytest.mark.parametrize("soft", [False, True])
def test_another_hosts_stale_lock_is_taken_after_watching_it(group, impatient, request, soft):
    """flock may be local to a host on network mounts; only a heartbeat tells."""
    if soft:
        request.getfixturevalue("no_flock")
        _hold_marker(group, "elsewhere")
    _write_other_host(group, 3)
    said: list[str] = []
    with GroupLock(group, said.append):
        assert any("waiting for a sign of life" in text for text in said) and any(
            "taking over" in text for text in said
        )


@pytest.mark.parametrize("soft", [False, True])
def test_another_hosts_living_lock_is_respected(group, impatient, monkeypatch, request, soft):
    if soft:
        request.getfixturevalue("no_flock")
        _hold_marker(group, "elsewhere")
    _write_other_host(group, 3)
    beats = iter(range(4, 10**6))
    sleep = time.sleep

    def beating(seconds: float) -> None:
        sleep(seconds)
        _write_other_host(group, next(beats))

    monkeypatch.setattr(locks.time, "sleep", beating)
    with pytest.raises(LockHeld, match="process 7 on host elsewhere"):
        GroupLock(group).acquire()
    assert json.loads((group / "controller.lock.holder").read_text())["host"] == "elsewhere"


def test_without_flock_a_marker_does(group, no_flock):
    said: list[str] = []
    with GroupLock(group, said.append) as lock:
        assert any("no flock" in text for text in said)
        with pytest.raises(LockHeld, match=f"process {os.getpid()}"):
            GroupLock(group).acquire()
        assert holder(group)["pid"] == os.getpid()
    assert not lock.marker.exists() and holder(group) is None
    with GroupLock(group):
        pass


def test_without_flock_a_dead_process_is_no_holder(group, no_flock):
    _hold_marker(group, socket.gethostname())
    (group / "controller.lock").touch()
    assert holder(group) is None
    with GroupLock(group):
        assert holder(group)["pid"] == os.getpid()


@pytest.mark.parametrize("soft", [False, True])
def test_lock_taken_over_stops_its_holder(group, request, soft):
    if soft:
        request.getfixturevalue("no_flock")
    with GroupLock(group) as lock:
        _write_other_host(group, 1)
        with pytest.raises(LockLost):
            lock.beat(now=True)
    assert json.loads((group / "controller.lock.holder").read_text())["host"] == "elsewhere"


def test_group_folder_that_is_gone(group):
    shutil.rmtree(group)
    with pytest.raises(FileNotFoundError):
        GroupLock(group).acquire()
    assert holder(group) is None
