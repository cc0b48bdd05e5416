"""The lock of a competition, with flock and where there is none."""

from __future__ import annotations

import errno
import fcntl
import os
import socket
from pathlib import Path

import pytest

from mlecore.data.lock import lock
from mlecore.util import locks
from mlecore.util.locks import LockHeld


def without_flock(monkeypatch: pytest.MonkeyPatch) -> None:
    def lacking(descriptor: int, operation: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", lacking)


@pytest.fixture(params=["flock", "no flock"])
def folder(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    if request.param == "no flock":
        without_flock(monkeypatch)
    return tmp_path / "tiny"


def test_the_second_one_hears_who_holds_it(folder: Path) -> None:
    with lock(folder, "preparing tiny"):
        words = rf"process {os.getpid()} on host {socket.gethostname()} is preparing tiny since"
        with pytest.raises(LockHeld, match=words), lock(folder, "preparing tiny"):
            pytest.fail("two hold it")
    with lock(folder, "preparing tiny"):
        pass


def test_who_waits_gets_it_afterwards(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locks, "_POLL", 0.001)
    first = lock(folder, "preparing tiny")
    first.__enter__()
    heard: list[str] = []

    def wait(holder: str) -> bool:
        heard.append(holder)
        if len(heard) == 3:
            first.__exit__(None, None, None)
        return True

    with lock(folder, "grading", wait):
        assert len(heard) == 3
    with lock(folder, "preparing tiny"), pytest.raises(LockHeld), lock(folder, "x", lambda holder: False):
        pytest.fail("two hold it")


def test_a_lock_file_of_another_machine_is_left_to_a_person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        without_flock(patch)
        with lock(tmp_path / "tiny", "preparing tiny"):
            record = (tmp_path / "tiny" / ".lock.exclusive").read_text()
        held = tmp_path / "tiny" / ".lock.exclusive"
        held.write_text(record.replace(socket.gethostname(), "another-machine"))
        assert "another-machine" in held.read_text()
        with pytest.raises(LockHeld, match=rf"remove {held}"), lock(tmp_path / "tiny", "x"):
            pytest.fail("another machine's lock was taken")
