"""Disks and data that go away for a while, extensions that fail, clocks that jump."""

from __future__ import annotations

import json
import threading
import time

import pluggy
import pytest

from mlecore.controller import extensions
from mlecore.detecting.ready import ready
from mlecore.errors import ImageGone
from mlecore.hookspecs import ExtensionSpec, hookimpl
from mlecore.model.backends import Image
from mlecore.runs import journal
from mlecore.runs.journal import Journal
from mlecore.runs.store import load_group, read_record


def test_what_cannot_be_fetched_is_tried_once_more_and_then_counts(lab):
    """An agent may have caused it, and must not get rid of a bad result so."""
    lab.make(("worker", {}), execution={"retries": 5})
    (lab.backend_root / "cannot-fetch").touch()
    assert lab.run().complete
    (record,) = load_group(lab.group.folder)
    assert (record.state, record.ended, len(record.attempts)) == ("graded", "crashed", 2)
    assert [attempt.infra_failure for attempt in record.attempts] == [True, False]
    assert all(attempt.in_doubt for attempt in record.attempts)
    assert "the drawer is locked" in record.reason and "counts as the agent's" in record.reason
    assert json.loads((record.folder / "grade.json").read_text())["status"] == "none"


def test_answers_that_are_away_for_a_while(lab):
    lab.make(("worker", {}))
    private = lab.experiment().inputs["coins"].data.private
    away = private.with_name("away")

    def come_back() -> None:
        time.sleep(0.3)
        away.rename(private)

    thread = threading.Thread(target=come_back)

    def leave(controller) -> None:
        private.rename(away)
        thread.start()

    kept = {a: getattr(lab.timing, a) for a in ("poll_min", "requests")}
    lab.timing = type(lab.timing)(**kept, step_delay=0.02)
    assert lab.run(leave).complete
    thread.join()


def test_a_clock_that_jumps_changes_nothing(lab, monkeypatch):
    stamps = iter(f"{year}-01-01T00:00:00+00:00" for year in range(2100, 1900, -1))
    monkeypatch.setattr(journal, "now", lambda: next(stamps))
    for step in ("run", "ending"):
        monkeypatch.setattr(f"mlecore.controller.{step}.now", lambda: next(stamps))
    monkeypatch.setattr(time, "time", lambda: float("nan"))
    lab.make(("worker", {"seconds": "0.3", "faults": "1"}), seeds=2)
    assert lab.run().complete
    record = load_group(lab.group.folder)[0]
    assert record.attempt.ended_at < record.attempt.started_at and record.seconds == 0.3


class Notes:
    def __init__(self) -> None:
        self.got: list[tuple] = []

    @hookimpl
    def run_started(self, run) -> None:
        self.got.append(("started", run.name, run.attempt.number))

    @hookimpl
    def run_finished(self, run) -> None:
        self.got.append(("finished", run.name, run.ended))

    @hookimpl
    def run_graded(self, report, run) -> None:
        self.got.append(("graded", run.name, report.status))

    @hookimpl
    def run_judged(self, findings, run) -> None:
        self.got.append(("judged", run.name, findings.detector.name, findings.outcome))


class Grumpy:
    @hookimpl
    def run_started(self) -> None:
        raise RuntimeError("not in the mood")

    @hookimpl
    def run_finished(self) -> None:
        raise SystemExit(0)


@pytest.fixture
def notes(lab):
    manager = pluggy.PluginManager("mlecore")
    manager.add_hookspecs(ExtensionSpec)
    got = Notes()
    manager.register(Grumpy(), name="extension:grumpy")
    manager.register(got, name="extension:notes")
    lab.extensions = manager
    return got


def test_events_come_in_order_and_a_failing_extension_touches_nothing(lab, notes):
    lab.make(("worker", {"faults": "1"}))
    assert lab.run().complete
    name = "worker--coins--0"
    assert notes.got == [
        ("started", name, 1),
        ("started", name, 2),
        ("finished", name, "finished"),
        ("graded", name, "graded"),
    ]
    failed = [event for event in Journal(lab.group.folder).read(name) if event["event"] == "extension failed"]
    assert [event["plugin"] for event in failed] == ["extension:grumpy"] * 3 and "mood" in failed[0]["why"]
    assert failed[2]["why"] == "SystemExit: 0"
    notes.got.clear()
    assert lab.run().complete and notes.got == []


def test_what_was_not_delivered_is_delivered_by_the_next_controller(lab, notes):
    lab.make(("worker", {}), seeds=2)
    assert lab.run().complete
    log = lab.group.folder / extensions.DELIVERED
    first = read_record(lab.folder("worker--coins--0"))
    lines = [line for line in log.read_text().splitlines() if first.uid not in line or "started" in line]
    log.write_text("\n".join(lines) + "\nrun_graded " + first.uid)  # the last line is torn
    notes.got.clear()
    assert lab.run().complete
    assert notes.got == [("finished", first.name, "finished"), ("graded", first.name, "graded")]


def test_findings_are_events_too(lab, notes, tmp_path):
    """Those that were not delivered come with the next controller, and none comes twice."""
    lab.detectors = (ready("judge", {"log": str(tmp_path / "judged.log")}),)
    lab.make(("worker", {}))
    assert lab.run().complete
    name = "worker--coins--0"
    assert [event[0] for event in notes.got] == ["started", "finished", "graded", "judged"]
    judged = notes.got[-1]
    assert judged == ("judged", name, "judge", "clean")
    notes.got.clear()
    assert lab.run().complete and notes.got == []
    log = lab.group.folder / extensions.DELIVERED
    log.write_text("".join(line for line in log.read_text().splitlines(True) if "judged" not in line))
    assert lab.run().complete and notes.got == [judged]


def test_an_extension_that_hangs_blocks_nothing(lab, notes):
    notes.got = type("Hanging", (list,), {"append": lambda self, item: time.sleep(60)})()
    lab.make(("worker", {}))
    lab.timing = type(lab.timing)(poll_min=0.005, deliver=0.2)
    began = time.monotonic()
    assert lab.run().complete and time.monotonic() - began < 50
    assert any("extensions have not taken 3 events yet" in text for text in lab.display.said)


def test_torn_lines_of_a_journal_are_left_out(tmp_path):
    journal = Journal(tmp_path)
    journal.note("one", "r")
    with journal.path.open("a") as out:
        out.write('{"event": "tw')
    journal.note("three", "r")
    assert [event["event"] for event in journal.read("r")] == ["one"]
    journal.note("four", "r")
    assert [event["event"] for event in journal.read()] == ["one", "four"]
    assert json.loads(journal.path.read_text().splitlines()[0])["event"] == "one"


def test_agents_with_one_recipe_share_its_image(lab, monkeypatch):
    lab.make(("worker", {"code": "0"}), ("worker", {"code": "1"}))
    builds = []

    def count(controller):
        backend = controller.experiment.backend
        build = backend.build
        monkeypatch.setattr(backend, "build", lambda recipe, log: (builds.append(recipe), build(recipe, log))[1])

    assert lab.run(count).complete and len(builds) == 1


def test_an_image_that_was_removed_between_two_runs_is_built_again(lab):
    lab.make(("worker", {}), seeds=3, execution={"max_parallel": 1})
    builds = []

    def prepare(controller):
        backend = controller.experiment.backend
        start = backend.start

        def build(recipe, log):
            builds.append(Image(ref=f"image-{len(builds)}", digest=f"sha256:{len(builds)}"))
            return builds[-1]

        def start_unless_removed(job):
            if job.image != builds[-1] or (len(builds) == 1 and job.name != first):
                raise ImageGone(f"{job.image.ref} was removed")
            return start(job)

        first = ""

        def remember_first(job):
            nonlocal first
            first = first or job.name
            return start_unless_removed(job)

        backend.build, backend.start = build, remember_first

    outcome = lab.run(prepare)
    assert outcome.complete and outcome.counts == {"graded": 3} and len(builds) == 2
    digests = [record.image_digest for record in load_group(lab.group.folder)]
    assert digests == ["sha256:0", "sha256:1", "sha256:1"]
