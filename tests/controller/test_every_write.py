"""A controller that dies at any write, or meets a full disk there, ends where an undisturbed one does."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
import tempfile
import threading
from pathlib import Path

import pytest
from attrs import evolve

from mlecore.model.record import RunRecord
from mlecore.runs import digests
from mlecore.runs.lock import GroupLock
from mlecore.runs.store import load_group
from mlecore.util import files

AGENTS = (("worker", {"faults": "1"}),)


class Dead(BaseException):
    """The controller's process has been killed."""


class Counting:
    """Counts operations; from the n-th on, each raises what a test wants."""

    def __init__(self, n: int | None = None, error: type[BaseException] | None = None) -> None:
        self.n, self.error = n, error
        self.count = 0
        self.where: tuple[str, Path] | None = None
        self._lock = threading.Lock()

    def __call__(self, operation: str, path: Path) -> int:
        """The number of this operation, from 1."""
        with self._lock:
            self.count += 1
            if self.n is None or self.count < self.n:
                return self.count
            self.where = self.where or (operation, path)
            if self.error is Dead:
                raise Dead  # and so does every operation after it
            if self.count < self.n + 3:
                raise OSError(errno.ENOSPC, "No space left on device", str(path))
            return self.count


def one_controller(lab, experiment) -> None:
    """Like Lab.run, but a death leaves no thread behind that would go on writing."""
    with GroupLock(lab.group.folder) as lock:
        controller = lab.controller_of(experiment, lock)
        try:
            outcome = controller.run()
            assert outcome.complete, outcome
        except Dead:
            controller.tasks.drain(60.0)
            controller.extensions.close(1.0)
            raise


def facts(record: RunRecord) -> dict:
    """What must be the same however often the controller died."""
    assert digests.problems(record) == []
    plain = evolve(record, created_at=None, uid="", group_uid="", group="", seconds=None, digests=None).to_json()
    plain["attempts"] = [
        {key: attempt[key] for key in ("number", "exit_code", "ended", "reason", "infra_failure")}
        for attempt in plain["attempts"]
    ]
    plain["backend"]["options"] = {}
    left = sorted(
        path.relative_to(record.folder).as_posix()
        for path in record.folder.rglob("*")
        if path.is_file() and not path.name.startswith(".")
    )
    grade = json.loads((record.folder / "grade.json").read_text())
    del grade["run"]
    return {"record": plain, "files": left, "grade": grade}


def leftovers(lab) -> list[Path]:
    """What only a step that was cut off leaves."""
    return [path for path in lab.group.folder.rglob("*") if path.name.endswith((".tmp", ".link", ".partial", ".old"))]


def end_of(lab) -> dict:
    assert leftovers(lab) == []
    return {record.name: facts(record) for record in load_group(lab.group.folder)}


@pytest.fixture
def memory(tmp_path):
    """A folder in memory where there is one: these tests sync some ten thousand times."""
    shared = Path("/dev/shm")
    if not os.access(shared, os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir=shared) as folder:
        yield Path(folder)


@pytest.fixture
def labs(lab, data, memory):
    """Makes fresh labs of the same plan, with what is slow to load loaded once."""
    number = iter(range(10**6))
    experiments = []

    def make():
        fresh = type(lab)(memory / f"lab{next(number)}", data)
        fresh.make(*AGENTS)
        if not experiments:
            experiments.append(fresh.experiment())
        backend = type(experiments[0].backend)(fresh.backend_root, 8, 0)
        experiment = evolve(experiments[0], plan=fresh.plan, backend=backend, grader=fresh.grader)
        fresh.controller_of = lambda _, lock: type(lab).controller(fresh, lock)
        fresh.experiment = lambda: experiment
        return fresh

    return make


@pytest.mark.slow
def test_dead_at_every_write(labs):
    undisturbed = labs()
    counting = Counting()
    with files.faults(counting):
        one_controller(undisturbed, None)
    expected = end_of(undisturbed)
    assert counting.count > 90  # docs/index.md and docs/runs.md say so
    for n in range(1, counting.count + 1):
        lab = labs()
        counting_here = Counting(n, Dead)
        with files.faults(counting_here):
            try:
                one_controller(lab, None)
            except Dead:
                assert counting_here.where
        one_controller(lab, None)
        assert end_of(lab) == expected, f"dead at write {n}: {counting_here.where}"
        jobs = (lab.backend_root / "starts.log").read_text().split()
        assert set(jobs) == {attempt.job for record in load_group(lab.group.folder) for attempt in record.attempts}
        assert not list((lab.backend_root / "jobs").iterdir())


@pytest.mark.slow
def test_full_disk_at_every_write(labs):
    undisturbed = labs()
    counting = Counting()
    with files.faults(counting):
        one_controller(undisturbed, None)
    expected = end_of(undisturbed)
    for n in range(1, counting.count + 1):
        lab = labs()
        full = Counting(n, OSError)
        with files.faults(full):
            one_controller(lab, None)
        assert end_of(lab) == expected, f"full disk at write {n}: {full.where}"


@pytest.mark.slow
def test_disk_that_lies_about_a_record(labs):
    """After a power loss run.json may be torn although it was synced: any prefix of it, at any state."""
    for n in range(1, 90, 4):
        lab = labs()
        with files.faults(Counting(n, Dead)), contextlib.suppress(Dead):
            one_controller(lab, None)
        for path in lab.group.folder.glob("*/run.json"):
            if files.previous(path).exists():
                content = path.read_bytes()[: n * 7 % 200]
                path.unlink()  # it may share its content with the one before
                path.write_bytes(content)
        one_controller(lab, None)
        assert {r.state for r in load_group(lab.group.folder)} == {"graded"}
        assert len(lab.grader.calls) <= 2


@pytest.mark.slow
def test_disk_away_at_every_write(labs):
    """Only its mount point is there for a moment: nothing is written below it, and all goes on when it is back."""
    undisturbed = labs()
    counting = Counting()
    with files.faults(counting):
        one_controller(undisturbed, None)
    expected = end_of(undisturbed)
    for n in range(1, counting.count + 1, 2):
        lab = labs()
        away, stray = lab.runs.with_name("away"), []

        def come_back(lab=lab, away=away, stray=stray) -> None:
            stray += lab.runs.rglob("*")
            shutil.rmtree(lab.runs)
            away.rename(lab.runs)

        timer = threading.Timer(0.05, come_back)

        here = Counting()

        def vanish(operation: str, path: Path, here=here, n=n, lab=lab, away=away, timer=timer) -> None:
            if here(operation, path) == n:
                lab.runs.rename(away)
                lab.runs.mkdir()
                timer.start()

        with files.faults(vanish):
            one_controller(lab, None)
        if timer.ident is not None:  # else there were fewer operations than before: threads write together
            timer.join()
        assert stray == [], f"away at operation {n}"
        assert end_of(lab) == expected, f"away at operation {n}"
