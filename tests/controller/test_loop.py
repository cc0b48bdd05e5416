"""The whole way of a run, and how each of its ends is reported."""

from __future__ import annotations

import json
import threading
import time

import pytest

from mlecore.controller.api import run_group
from mlecore.errors import GradingError
from mlecore.runs import requests


def test_runs_are_graded_and_laid_out(lab):
    lab.make(("worker", {}), seeds=3)
    outcome = lab.run()
    assert outcome.complete and outcome.counts == {"graded": 3}
    for record in lab.records().values():
        assert record.state == "graded" and record.ended == "finished" and record.gradings == 1
        left = sorted(path.relative_to(record.folder).as_posix() for path in record.folder.rglob("*") if path.is_file())
        assert {
            "submission/submission.csv",
            "logs/work.log",
            "logs/output.log",
            "code/main.py",
            "snapshots/1.csv",
        } <= set(left)
        assert json.loads((record.folder / "grade.json").read_text())["status"] == "graded"
        assert record.hardware.cpus == 3 and record.collected.snapshots == 1
        assert record.sandbox.isolation == "imagined" and not record.sandbox.network_verified
        assert record.sandbox.network.level == "enforced" and record.sandbox.disk.level == "absent"
        for digest in ("data_digest", "description_digest", "launch_digest", "recipe_digest", "instructions_digest"):
            assert getattr(record, digest)
        assert record.agent.source and [use.name for use in record.plugins] == ["mlecore", "coins"]
    assert list((lab.backend_root / "jobs").iterdir()) == []


@pytest.mark.parametrize(
    ("options", "ended", "status", "reason"),
    [
        ({"code": "3"}, "crashed", "graded", "exit code 3"),
        ({"oom": "true", "code": "137"}, "oom", "graded", "ran out of memory"),
        ({"timed_out": "true"}, "timed_out", "graded", "time limit"),
        ({"submission": "none"}, "finished", "none", ""),
    ],
)
def test_what_the_agent_did_is_a_result(lab, options, ended, status, reason):
    lab.make(("worker", options))
    assert lab.run().complete
    record = lab.records()["worker--coins--0"]
    assert (record.state, record.ended) == ("graded", ended)
    assert reason in record.reason and len(record.attempts) == 1
    assert json.loads((record.folder / "grade.json").read_text())["status"] == status


def test_infrastructure_failures_are_retried(lab):
    lab.make(("worker", {"faults": "2"}))
    assert lab.run().complete
    record = lab.records()["worker--coins--0"]
    assert [attempt.infra_failure for attempt in record.attempts] == [True, True, False]
    assert record.attempts[0].reason == "the lights went out" and record.ended == "finished"
    assert (record.folder / "attempts" / "1").is_dir() and record.submission


def test_no_retry_is_left(lab):
    lab.make(("worker", {"faults": "9"}), execution={"retries": 1})
    outcome = lab.run()
    record = lab.records()["worker--coins--0"]
    assert not outcome.complete and outcome.counts == {"failed": 1}
    assert (record.state, record.ended, len(record.attempts)) == ("failed", "lost", 2)
    assert "the lights went out" in record.reason and not record.submission
    assert not (record.folder / "submission").exists() and lab.grader.calls == []


def test_retry_by_hand_grants_new_attempts(lab):
    lab.make(("worker", {"faults": "3"}), execution={"retries": 1})
    lab.run()
    requests.leave(lab.group.folder, "worker--coins--0", "retry")
    assert lab.run().complete
    record = lab.records()["worker--coins--0"]
    assert record.state == "graded" and len(record.attempts) == 4 and record.retry_from == 2


def test_results_are_never_retried(lab):
    lab.make(("worker", {}))
    lab.run()
    requests.leave(lab.group.folder, "worker--coins--0", "retry")
    assert lab.run().counts == {"graded": 1}
    assert any("only failed and cancelled" in text for text in lab.display.said)
    assert not requests.pending(lab.group.folder)


def test_finished_files_need_no_backend(lab, tmp_path):
    file = tmp_path / "mine.csv"
    file.write_text("id,side\n" + "".join(f"{n},1\n" for n in range(10)))
    lab.make(("finished", {"file": str(file)}), ("finished", {"file": str(tmp_path / "none.csv")}))
    (lab.backend_root / "unreachable").touch()
    lab.finished_agents = frozenset(("finished", "finished-2"))
    assert lab.run().complete
    there = lab.records()
    assert there["finished--coins--0"].submission.read_text() == file.read_text()
    assert there["finished-2--coins--0"].submission is None
    assert (there["finished-2--coins--0"].folder / "grade.json").is_file()


def test_real_data_that_need_no_account_are_not_recorded_as_synthetic(lab):
    lab.make(("worker", {}), data={"synthetic": True})
    assert lab.run().complete
    assert not lab.records()["worker--coins--0"].synthetic


def test_grading_that_fails_is_ours_and_done_again(lab):
    lab.make(("worker", {}))
    lab.grader.error = GradingError("the answers are damaged")
    outcome = lab.run()
    record = lab.records()["worker--coins--0"]
    assert record.state == "collected" and "damaged" in outcome.unfinished[0] and not outcome.complete
    assert "damaged" in json.loads((record.folder / "grade_error.json").read_text())["error"]
    lab.grader.error = None
    assert lab.run().complete
    record = lab.records()["worker--coins--0"]
    assert record.state == "graded" and not (record.folder / "grade_error.json").exists()
    assert len((lab.backend_root / "starts.log").read_text().split()) == 1


def test_a_grade_that_is_there_stays(lab):
    lab.make(("worker", {}))
    lab.grader.error = GradingError("later")
    lab.run()
    lab.grader.error = None
    folder = lab.folder("worker--coins--0")
    lab.run()
    before = (folder / "grade.json").read_bytes()
    record = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps({**record, "state": "collected"}))
    calls = len(lab.grader.calls)
    lab.run()
    assert (folder / "grade.json").read_bytes() == before and len(lab.grader.calls) == calls


@pytest.mark.parametrize("content", [None, '{"score": 0.', '{"score": "much"}'])
def test_a_graded_run_whose_report_is_damaged_or_gone_is_graded_again(lab, content):
    lab.make(("worker", {}), seeds=2)
    lab.run()
    folder = lab.folder("worker--coins--1")
    before = (folder / "grade.json").read_text()
    (folder / "grade.json").unlink() if content is None else (folder / "grade.json").write_text(content)
    assert lab.run().complete
    assert (folder / "grade.json").read_text() == before and len(lab.grader.calls) == 3
    assert {name: record.gradings for name, record in lab.records().items()} == {
        "worker--coins--0": 1,
        "worker--coins--1": 2,
    }
    assert any("worker--coins--1" in said and "grading it again" in said for said in lab.display.said)
    assert (folder / "grade.damaged.json").exists() == (content is not None)
    assert lab.run().complete and len(lab.grader.calls) == 3


def test_an_unreachable_backend_is_waited_for_and_starts_no_retry(lab):
    lab.make(("worker", {"seconds": "0.05"}), seeds=2)
    away = lab.backend_root / "unreachable"

    def come_and_go() -> None:
        for _ in range(3):
            time.sleep(0.03)
            away.touch()
            time.sleep(0.08)
            away.unlink()

    thread = threading.Thread(target=come_and_go)
    thread.start()
    assert lab.run().complete
    thread.join()
    assert all(len(record.attempts) == 1 for record in lab.records().values())


def test_a_job_that_the_backend_leaves_out_is_asked_for_again(lab, monkeypatch):
    lab.make(("worker", {"seconds": "0.05"}))
    left_out = iter(range(2))

    def forgetful(controller) -> None:
        status = controller.experiment.backend.status
        answer = lambda handles: status(handles) if next(left_out, None) is None else {}  # noqa: E731
        monkeypatch.setattr(controller.experiment.backend, "status", answer)

    assert lab.run(forgetful).complete


def test_what_cannot_be_built_stays_planned(lab):
    lab.make(("worker", {}), seeds=2)
    (lab.backend_root / "cannot-build").touch()
    outcome = lab.run()
    assert "no flour" in outcome.unfinished[0] and not outcome.complete
    assert [record.state for record in lab.records().values()] == ["planned", "planned"]
    (lab.backend_root / "cannot-build").unlink()
    assert lab.run().complete


def test_plugin_that_fails_fails_its_run_alone(lab, monkeypatch):
    import mle_test_worker

    lab.make(("worker", {}), seeds=2)
    experiment = lab.experiment()
    original = mle_test_worker.launch

    def picky(task):
        if task.seed == 1:
            raise RuntimeError("seed 1 is unlucky")
        return original(task)

    loaded = experiment.agents["worker"].plugin
    monkeypatch.setattr(loaded.manager.hook.launch.get_hookimpls()[0], "function", picky)
    outcome = lab.run()
    assert outcome.counts == {"graded": 1, "failed": 1}
    assert "unlucky" in lab.records()["worker--coins--1"].reason


def test_an_agent_is_asked_once_for_each_run(lab, monkeypatch):
    """The preflight's answer is kept for the run that it is about."""
    lab.make(("worker", {}), seeds=2, name="other")
    loaded = lab.experiment().agents["worker"].plugin
    hook, asked = loaded.manager.hook.launch.get_hookimpls()[0], []
    ask = hook.function

    def counted(task):
        asked.append((task.seed, str(task.home)))
        return ask(task)

    monkeypatch.setattr(hook, "function", counted)
    done = run_group(lab.plan, "g", lab.runs, [lab.data], lab.display, timing=lab.timing)
    assert done.outcome.complete and sorted(seed for seed, _ in asked) == [0, 1]
