"""What others do to an active group: users who cancel or stop it, and folders, jobs and records that go or change."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path

from mlecore.runs.store import load_group, read_record


def once_running(lab, act: Callable[[], object]) -> threading.Thread:
    """Does ``act`` as soon as the run is running."""

    def wait() -> None:
        deadline = time.monotonic() + 120
        while ("worker--coins--0", "running") not in lab.display.changes and time.monotonic() < deadline:
            time.sleep(0.002)
        act()

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    return thread


def test_nothing_is_written_into_another_groups_folder(lab):
    """Its disk was taken away, and another one with a group of this name mounted there."""
    lab.make(("worker", {}))
    lab.runs.rename(lab.root / "second")
    lab.make(("worker", {"seconds": "0.2"}))
    before = sorted(path.name for path in (lab.root / "second" / "g").iterdir())

    def swap() -> None:
        lab.runs.rename(lab.root / "first")
        (lab.root / "second").rename(lab.runs)
        time.sleep(0.6)  # its job ends meanwhile
        lab.runs.rename(lab.root / "second")
        (lab.root / "first").rename(lab.runs)

    thread = once_running(lab, swap)
    assert lab.run().complete
    thread.join()
    assert sorted(path.name for path in (lab.root / "second" / "g").iterdir()) == before


def test_job_that_vanished_is_retried(lab):
    lab.make(("worker", {"seconds": "0.3"}))

    def lose(_) -> None:
        lab.display.on.clear()
        job = next((lab.backend_root / "jobs").iterdir())
        job.rename(lab.backend_root / job.name)

    lab.display.on["running"] = lose
    assert lab.run().complete
    record = lab.records()["worker--coins--0"]
    assert [attempt.ended for attempt in record.attempts] == ["lost", "finished"]
    assert "no longer has" in record.attempts[0].reason


def test_a_folder_deleted_by_hand_is_reported_and_the_other_runs_end(lab):
    lab.make(("worker", {"seconds": "0.3"}), seeds=2)

    def delete(record) -> None:
        if record.seed == 0:
            lab.display.on.clear()
            shutil.rmtree(record.folder)

    lab.display.on["running"] = delete
    outcome = lab.run()
    assert outcome.counts == {"graded": 1} and "deleted" in outcome.unfinished[0]
    assert not list((lab.backend_root / "jobs").iterdir())
    assert lab.run().counts == {"graded": 2}
    assert any("starts again" in text for text in lab.display.said)


def _damage(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:100])


def test_a_damaged_record_is_left_alone_and_reported(lab):
    lab.make(("worker", {}), seeds=2)
    lab.run()
    folder = lab.folder("worker--coins--0")
    _damage(folder / "run.json")
    (folder / ".run.json.previous").unlink()
    outcome = lab.run()
    assert outcome.counts == {"graded": 1} and "left alone" in outcome.unfinished[0]
    problems: list[str] = []
    assert len(load_group(lab.group.folder, problems)) == 1 and "not JSON" in problems[0]


def test_a_torn_record_is_replaced_by_the_one_before(lab):
    lab.make(("worker", {}))
    lab.run()
    folder = lab.folder("worker--coins--0")
    grade = (folder / "grade.json").read_bytes()
    _damage(folder / "run.json")
    assert lab.run().complete
    assert read_record(folder).state == "graded" and (folder / "grade.json").read_bytes() == grade
    assert len((lab.backend_root / "starts.log").read_text().split()) == 1


def test_edited_record_of_another_run_is_left_alone(lab):
    lab.make(("worker", {}), seeds=2)
    lab.run()
    path = lab.folder("worker--coins--0") / "run.json"
    path.write_text(path.read_text().replace('"seed": 0', '"seed": 7'))
    assert "does not fit the plan" in lab.run().unfinished[0]
