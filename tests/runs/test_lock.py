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

from mlecore.runs import lock as locking
from mlecore.runs.lock import GroupLock, GroupLocked, LockLost, holder


@pytest.fixture
def group(tmp_path: Path) -> Path:
    folder = tmp_path / "g"
    folder.mkdir()
    return folder


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(locking, "PATIENCE", 0.2)
    monkeypatch.setattr(locking, "BEAT", 0.05)


@pytest.fixture
def no_flock(monkeypatch):
    def refuse(descriptor, operation):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)


def _hold(group: Path, ready) -> None:
    with GroupLock(group):
        ready.set()
        time.sleep(60)


def test_the_second_gets_an_error_that_names_the_first(group):
    with GroupLock(group), pytest.raises(GroupLocked, match=f"process {os.getpid()} on host {socket.gethostname()}"):
        GroupLock(group).acquire()
    assert holder(group) is None
    with GroupLock(group):
        assert holder(group)["pid"] == os.getpid()


def test_the_loser_leaves_the_holders_words_alone(group):
    with GroupLock(group):
        for _ in range(2):
            with pytest.raises(GroupLocked, match=f"process {os.getpid()}"):
                GroupLock(group).acquire()


def test_killed_holder_leaves_a_free_lock(group):
    context = multiprocessing.get_context("fork")
    ready = context.Event()
    process = context.Process(target=_hold, args=(group, ready))
    process.start()
    assert ready.wait(10)
    with pytest.raises(GroupLocked, match=f"process {process.pid}"):
        GroupLock(group).acquire()
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    began = time.monotonic()
    with GroupLock(group):
        assert time.monotonic() - began < 1.0


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


def _write_other_host(path: Path, beat: int) -> None:
    path.write_text(json.dumps({"host": "elsewhere", "pid": 7, "boot": "x", "token": "t", "beat": beat}))


def test_another_hosts_stale_lock_is_taken_after_watching_it(group, impatient):
    """flock may be local to a host on network mounts; only a heartbeat tells."""
    _write_other_host(group / "controller.lock", 3)
    said: list[str] = []
    with GroupLock(group, said.append):
        assert any("waiting for a sign of life" in text for text in said) and any(
            "taking over" in text for text in said
        )


def test_another_hosts_living_lock_is_respected(group, impatient, monkeypatch):
    path = group / "controller.lock"
    _write_other_host(path, 3)
    beats = iter(range(4, 10**6))
    sleep = time.sleep

    def beating(seconds: float) -> None:
        sleep(seconds)
        _write_other_host(path, next(beats))

    monkeypatch.setattr(locking.time, "sleep", beating)
    with pytest.raises(GroupLocked, match="process 7 on host elsewhere"):
        GroupLock(group).acquire()
    assert json.loads(path.read_text())["host"] == "elsewhere"


def test_without_flock_a_claim_does(group, no_flock):
    said: list[str] = []
    with GroupLock(group, said.append) as lock:
        assert any("no flock" in text for text in said)
        with pytest.raises(GroupLocked, match=f"process {os.getpid()}"):
            GroupLock(group).acquire()
        lock.beat(now=True)
        assert json.loads(lock.claim.read_text())["beat"] >= 1
    assert not lock.claim.exists()
    with GroupLock(group):
        pass


def test_without_flock_a_dead_process_is_no_holder(group, no_flock):
    dead = {"host": socket.gethostname(), "pid": 2**22 + 5, "boot": locking._boot(), "token": "t"}
    (group / "controller.claim").write_text(json.dumps(dead))
    said: list[str] = []
    with GroupLock(group, said.append):
        assert any("stale" in text for text in said)


def test_without_flock_a_process_of_before_the_boot_is_no_holder(group, no_flock):
    before = {"host": socket.gethostname(), "pid": os.getpid(), "boot": "another boot", "token": "t"}
    (group / "controller.claim").write_text(json.dumps(before))
    with GroupLock(group):
        pass


def test_without_flock_another_process_with_the_number_of_a_dead_holder_is_no_holder(group, no_flock):
    dead = {**locking._this_process(), "began": "1", "token": "t"}
    (group / "controller.claim").write_text(json.dumps(dead))
    (group / "controller.lock").touch()
    assert holder(group) is None
    with GroupLock(group):
        assert holder(group)["pid"] == os.getpid()


def test_a_process_has_the_same_beginning_where_there_is_no_proc(monkeypatch):
    """As on macOS."""

    class NoProc(type(Path())):
        def read_text(self, *_, **__):
            raise FileNotFoundError

        def exists(self):
            return False

    monkeypatch.setattr(locking, "Path", NoProc)
    assert locking._began(os.getpid()) == locking._began(os.getpid()) != ""
    assert locking._began(2**22 + 5) == ""


def test_without_flock_another_hosts_claim_is_watched(group, no_flock, impatient):
    _write_other_host(group / "controller.claim", 3)
    with GroupLock(group) as lock:
        assert lock._claimed


def test_claim_taken_over_stops_its_holder(group, no_flock):
    with GroupLock(group) as lock:
        _write_other_host(lock.claim, 1)
        with pytest.raises(LockLost):
            lock.beat(now=True)
        _write_other_host(lock.claim, 1)
        lock._claimed = False  # it is not ours to remove any more


def test_group_folder_that_is_gone(group):
    shutil.rmtree(group)
    with pytest.raises(FileNotFoundError):
        GroupLock(group).acquire()
    assert holder(group) is None
