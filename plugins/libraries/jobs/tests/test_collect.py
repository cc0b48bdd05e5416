"""Fetching from a folder that an enemy filled."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from mlecore_jobs import collect, walking
from mlecore_jobs.fetching import MAX_REFUSED, Fetched
from mlecore_testing.backends.patterns import TABLE, TREE


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home" / "submission").mkdir(parents=True)
    (tmp_path / "secret").write_text("answers")
    return tmp_path / "home"


def fetch(
    home: Path, globs: Sequence[str] = ("submission",), limit: int = 10**6, files: int = 50_000
) -> tuple[Fetched, dict[str, str]]:
    into = home.parent / f"into-{time.monotonic_ns()}"
    fetched = collect.collect(home, globs, into, limit, files, home.parent / "outside")
    return fetched, {str(path.relative_to(into)): path.read_text() for path in into.rglob("*") if path.is_file()}


@pytest.mark.parametrize("glob", TABLE)
def test_globs_mean_what_they_mean_everywhere(home: Path, glob: str) -> None:
    for name in (*TREE, "data/train.csv"):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(name)
    assert sorted(fetch(home, [glob])[1]) == sorted(TABLE[glob])


def test_numbers_are_bounded(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walking, "MAX_ENTRIES", 300)
    for number in range(1000):
        (home / f"submission/{number}").touch()
    fetched, _ = fetch(home, files=50)
    assert fetched.files == 50 and not fetched.complete
    assert [text.partition(": ")[2] for text in fetched.refused] == [
        "not read further after 300 names in total",
        "no more than 50 files are taken, and none after it was looked at",
    ]
    for number in range(1000):
        (home / f"submission/{number}").unlink()
        (home / f"submission/{number}").symlink_to("x")
    fetched, _ = fetch(home)
    assert fetched.files == 0 and len(fetched.refused) <= MAX_REFUSED + 1


def test_deep_folders_end_somewhere(home: Path) -> None:
    folder = home / "submission"
    for _ in range(100):
        folder = folder / "d"
    folder.mkdir(parents=True)
    (folder / "x").touch()
    fetched, got = fetch(home)
    assert got == {} and not fetched.complete and "folders deep" in fetched.refused[0]


def test_names_that_are_not_text_are_fetched_and_can_be_distinguished(home: Path) -> None:
    os.mkfifo(os.fsencode(home / "submission") + b"/\xff\n")
    (home / "submission" / os.fsdecode(b"\xfe.csv")).write_text("1")
    fetched, _ = fetch(home)
    assert fetched.files == 1
    assert fetched.refused == ("submission/\\xff\\n: a FIFO, not a file",)
