"""Settled runs are read once by lists, and whatever is changed afterwards is seen."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import platformdirs
import pytest
from attrs import evolve

from mlecore import cache
from mlecore.runs import store
from mlecore.runs.cancelled import add_cancelled
from mlecore.runs.lines import RunLine, list_runs
from mlecore.runs.plan import Plan, PlannedAgent
from mlecore.runs.planning import write_plan
from mlecore.runs.record import Attempt
from mlecore.runs.store import create_group, planned_records, read_record, write_record

PLAN = Plan(agents=(PlannedAgent(name="dummy", label="dummy"),), competitions=("coins",), seeds=(0, 1, 2))
FIRST, SECOND = "dummy--coins--0", "dummy--coins--1"


@pytest.fixture(autouse=True)
def caches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's cache folder. Files that a test has just written count as old."""
    monkeypatch.setattr(platformdirs, "user_cache_path", lambda name, appauthor: tmp_path / "cache")
    monkeypatch.setattr(cache, "SETTLED", -60.0)
    return tmp_path / "cache" / "groups"


@pytest.fixture
def group(tmp_path: Path) -> Path:
    """Three graded runs."""
    made = create_group(tmp_path / "runs", "g", PLAN)
    for record in planned_records(made):
        record.folder.mkdir()
        settle(record.folder, record, 0.25)
    return made.folder


def settle(folder: Path, record: store.RunRecord, score: float) -> None:
    (folder / "grade.json").write_text(json.dumps({"status": "graded", "score_text": str(score)}))
    times = {"started_at": "2026-01-01T00:00:00+00:00", "ended_at": "2026-01-01T00:01:00+00:00"}
    attempt = Attempt(number=1, job=f"mle-{record.uid}-1", **times)
    write_record(evolve(record, state="graded", ended="finished", seconds=60.0, attempts=(attempt,)))


@pytest.fixture
def was_read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the runs whose record was read."""
    names: list[str] = []

    def read(folder: Path) -> store.RunSummary:
        names.append(folder.name)
        return original(folder)

    original = store.read_summary
    monkeypatch.setattr(store, "read_summary", read)
    return names


def listed(group: Path) -> tuple[list[RunLine], list[str]]:
    problems: list[str] = []
    return list_runs(group, problems), problems


def test_settled_runs_are_read_once(group: Path, was_read: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    first = listed(group)
    assert [(run.name, run.status, run.score, run.seconds) for run in first[0]] == [
        (f"dummy--coins--{seed}", "graded", "0.25", 60.0) for seed in range(3)
    ]
    assert len(was_read) == 3
    monkeypatch.setattr(store, "open_group", None)
    assert listed(group) == first and len(was_read) == 3


def test_runs_that_are_not_settled_are_always_read(group: Path, was_read: list[str]) -> None:
    write_record(evolve(read_record(group / SECOND), state="running"))
    assert [run.state for run in listed(group)[0]] == [run.state for run in listed(group)[0]]
    assert was_read == [FIRST, SECOND, "dummy--coins--2", SECOND]


def test_a_run_without_an_end_is_not_kept(group: Path, was_read: list[str]) -> None:
    record = read_record(group / FIRST)
    write_record(evolve(record, state="failed", seconds=None).with_attempt(ended_at=None))
    before = listed(group)[0][0].seconds
    after = listed(group)[0][0].seconds
    assert before and after and after > before and was_read.count(FIRST) == 2


def test_the_folders_of_no_run_are_no_obstacle(group: Path, was_read: list[str]) -> None:
    (group / "builds").mkdir()
    (group / ".cache").mkdir()
    assert listed(group) == listed(group) and was_read == ["builds", FIRST, SECOND, "dummy--coins--2"]


def grade_again(group: Path) -> None:
    settle(group / FIRST, read_record(group / FIRST), 0.75)


def edit_unnoticed(group: Path) -> None:
    """Of the same size and modification time, in the same file."""
    path = group / FIRST / "run.json"
    before = path.stat()
    with path.open("r+b") as file:
        content = file.read().replace(b'"seconds": 60.0', b'"seconds": 61.0')
        file.seek(0)
        file.write(content)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_size == before.st_size


def edit_grade(group: Path) -> None:
    (group / FIRST / "grade.json").write_text('{"status": "graded", "score_text": "9"}')


def link(path: Path) -> None:
    path.rename(path.with_name(".elsewhere"))
    path.symlink_to(".elsewhere")


def swap(group: Path) -> None:
    (group / FIRST).rename(group / "x")
    (group / SECOND).rename(group / FIRST)
    (group / "x").rename(group / SECOND)


def replace_group(group: Path) -> None:
    info = json.loads((group / "group.json").read_text())
    (group / "group.json").write_text(json.dumps({**info, "uid": "another"}))


CHANGES: dict[str, Callable[[Path], object]] = {
    "graded again": grade_again,
    "retried": lambda group: write_record(evolve(read_record(group / FIRST), state="starting")),
    "a record edited by hand": edit_unnoticed,
    "a grade edited by hand": edit_grade,
    "a grade removed": lambda group: (group / FIRST / "grade.json").unlink(),
    "a record removed": lambda group: (group / FIRST / "run.json").unlink(),
    "a record damaged": lambda group: (group / FIRST / "run.json").write_text("{"),
    "a record that is a link": lambda group: link(group / FIRST / "run.json"),
    "a grade that is a link": lambda group: link(group / FIRST / "grade.json"),
    "a run that is a link": lambda group: link(group / FIRST),
    "a run removed": lambda group: shutil.rmtree(group / FIRST),
    "a run renamed": lambda group: (group / FIRST).rename(group / "other"),
    "a run copied": lambda group: shutil.copytree(group / FIRST, group / "other"),
    "a run copied over another": lambda group: (
        shutil.rmtree(group / SECOND),
        shutil.copytree(group / FIRST, group / SECOND),
    ),
    "two runs swapped": swap,
    "another group's file": replace_group,
    "no group's file": lambda group: ((group / "group.json").unlink(), shutil.rmtree(group / FIRST)),
    "another plan": lambda group: (group / "plan.toml").write_text(write_plan(evolve(PLAN, seeds=(0, 1)))),
    "a damaged plan": lambda group: (group / "plan.toml").write_text("="),
    "a planned run cancelled": lambda group: (
        shutil.rmtree(group / FIRST),
        listed(group),
        add_cancelled(group, [FIRST]),
    ),
}


@pytest.mark.skipif(os.name != "posix", reason="no links, no change times")
@pytest.mark.parametrize("change", CHANGES)
def test_a_change_is_seen(group: Path, caches: Path, change: str) -> None:
    def outcome() -> object:
        try:
            return listed(group)
        except store.DataError as error:
            return str(error)

    before = outcome()
    CHANGES[change](group)
    after = outcome()
    assert after != before
    assert outcome() == after
    shutil.rmtree(caches, ignore_errors=True)
    assert outcome() == after


def test_another_group_of_the_same_name_is_read(group: Path, tmp_path: Path, was_read: list[str]) -> None:
    other = tmp_path / "other"
    shutil.copytree(group, other)
    settle(other / FIRST, evolve(read_record(other / FIRST), folder=other / FIRST), 0.5)
    listed(group)
    group.rename(tmp_path / "away")
    other.rename(group)
    assert [run.score for run in listed(group)[0]] == ["0.5", "0.25", "0.25"] and len(was_read) == 6


@pytest.mark.parametrize("seconds", [2.0, -3600.0], ids=["just changed", "the clock was put back"])
def test_runs_whose_next_change_might_leave_no_trace_are_not_kept(
    group: Path, was_read: list[str], monkeypatch: pytest.MonkeyPatch, seconds: float
) -> None:
    monkeypatch.setattr(cache, "SETTLED", seconds)
    if seconds < 0:
        monkeypatch.setattr(cache, "SETTLED", 2.0)
        clock = (group / FIRST).stat().st_mtime + seconds
        monkeypatch.setattr("mlecore.runs.lines.time.time", lambda: clock)
    assert listed(group) == listed(group) and len(was_read) == 6


def test_what_a_run_became_while_it_was_read_is_seen(group: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    original = store.read_summary

    def read(folder: Path) -> store.RunSummary:
        found = original(folder)
        if folder.name == FIRST:
            settle(folder, read_record(folder), 0.75)
        return found

    monkeypatch.setattr(store, "read_summary", read)
    listed(group)
    monkeypatch.setattr(store, "read_summary", original)
    assert [run.score for run in listed(group)[0]] == ["0.75", "0.25", "0.25"]


def test_a_run_alone_is_listed(group: Path, caches: Path) -> None:
    assert [run.name for run in listed(group / FIRST)[0]] == [FIRST]
    assert not caches.exists()


SECOND_PROCESS = """
import contextlib, io, sys, time
later = time.time() + 60
time.time = lambda: later
from mlecore.cli import main
with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.suppress(SystemExit):
    main(sys.argv[1:])
assert "0.25000" in out.getvalue()
print(*sys.modules)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the variable names the cache folder on Linux only")
def test_a_second_list_imports_nothing_to_read_runs_with(group: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    for number in range(2):
        done = subprocess.run(
            [sys.executable, "-c", SECOND_PROCESS, "runs", "list", "g", "--runs", str(group.parent)],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        heavy = {"mlecore.runs.store", "mlecore.runs.record", "cattrs", "msgspec"} & {*done.stdout.split()}
        assert bool(heavy) == (number == 0)


ODD = (None, "a\0b", [[]], {"a": {}})


def altered(value: Any) -> Iterator[Any]:
    """A JSON value in which one of the inner values is another."""
    yield from ODD
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        for other in altered(inner):
            copy = value.copy()
            copy[key] = other
            yield copy


def test_entries_that_were_made_by_hand_are_no_obstacle(group: Path, caches: Path) -> None:
    before = listed(group)
    (file,) = caches.glob("*.json")
    entries = cache.read_entries(file, "runs", ".")
    for odd in altered({**entries, "runs": dict(list(entries["runs"].items())[:1])}):
        cache.write_entries(file, odd, "runs", ".")
        found = listed(group)
        assert len(found[0]) == 3 and found[1] == before[1]
