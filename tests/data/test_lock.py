"""The lock of a competition, with flock and where there is none."""

from __future__ import annotations

import errno
import json
import os
import socket
from pathlib import Path

import pytest

from mlecore.data import lock as module
from mlecore.data.lock import Locked, lock
from mlecore.errors import DataError


@pytest.fixture(params=["flock", "no flock"])
def place(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    if request.param == "no flock":

        def lacking(descriptor: int) -> bool:
            raise OSError(errno.ENOLCK, "No locks available")

        monkeypatch.setattr(module, "_flock", lacking)
    return tmp_path / "tiny"


def test_the_second_one_hears_who_holds_it(place: Path) -> None:
    with lock(place, "preparing tiny"):
        words = rf"process {os.getpid()} on {socket.gethostname()} is preparing tiny since"
        with pytest.raises(Locked, match=words), lock(place, "preparing tiny"):
            pytest.fail("two hold it")
    with lock(place, "preparing tiny"):
        pass


def test_who_waits_gets_it_afterwards(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_POLL", 0.001)
    first = lock(place, "preparing tiny")
    first.__enter__()
    heard: list[str] = []

    def wait(holder: str) -> bool:
        heard.append(holder)
        if len(heard) == 3:
            first.__exit__(None, None, None)
        return True

    with lock(place, "grading", wait):
        assert len(heard) == 3
    with lock(place, "preparing tiny"), pytest.raises(Locked), lock(place, "x", lambda holder: False):
        pytest.fail("two hold it")


def test_a_lock_file_of_a_killed_process_is_taken_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_flock", lambda descriptor: (_ for _ in ()).throw(OSError(errno.ENOLCK, "none")))
    tmp_path.joinpath("tiny").mkdir()
    held = tmp_path / "tiny" / ".lock.exclusive"
    gone = {"what": "x", "host": socket.gethostname(), "pid": 2**22 + 1, "since": "long ago"}
    held.write_text(json.dumps(gone))
    with lock(tmp_path / "tiny", "preparing tiny"):
        assert json.loads(held.read_text())["pid"] == os.getpid()
    held.write_text(json.dumps({**gone, "host": "another-machine"}))
    with pytest.raises(Locked, match=rf"another-machine.*\n.*remove {held}"), lock(tmp_path / "tiny", "x"):
        pytest.fail("another machine's lock was taken")


def test_a_folder_that_cannot_be_made_is_told_with_a_way_on(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match=r"cannot be written.*\n.*--data"), lock(tmp_path / "file" / "tiny", "x"):
        pytest.fail("locked nothing")
