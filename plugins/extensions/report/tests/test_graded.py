"""What lies beside a run's record, however it got there."""

from __future__ import annotations

import json
import os

import pytest
from mle_ext_report.graded import read_graded

from mlecore.runs.digests import with_digest


@pytest.fixture
def folder(run, tmp_path):
    def write(**files):
        for name, text in files.items():
            path = tmp_path / name.replace("__", "/").replace("_json", ".json")
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        return read_graded(run(folder=tmp_path))

    return write


def test_a_whole_run(folder, report) -> None:
    finding = {"rule": "copied", "verdict": "violation", "summary": "it copied", "confidence": 0.9}
    harmless = {**finding, "verdict": "clean"}
    use = {"name": "dolos", "version": "2"}
    head = {"run": "gspaceship-titanic0", "detector": use, "created_at": "now", "seconds": 1.0, "group": "g"}
    point = {"seconds": 60, "status": "graded", "score": 0.5, "medal": None}
    found = folder(
        grade_json=json.dumps(report(0.9, "gold").to_json()),
        findings__dolos_json=with_digest({**head, "findings": [finding, harmless]}).decode(),
        findings__rules_json=with_digest({**head, "detector": {"name": "rules"}, "failed": "no answer"}).decode(),
        snapshots_json=json.dumps({"points": [{**point, "seconds": 90}, point]}),
    )
    assert found.outcome.gold and found.outcome.made
    assert [(s.detector, s.rule, s.confidence) for s in found.suspicions] == [("dolos", "copied", 0.9)]
    outcomes = [(each.detector, each.version, each.outcome, each.why) for each in found.judgements]
    assert outcomes == [("dolos", "2", "violation", ""), ("rules", "", "failed", "no answer")]
    assert [moment.seconds for moment in found.history] == [60.0, 90.0]


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"findings": 3}', "[" * 100_000, '{"findings": [{"verdict": 1}]}'])
def test_damaged_files(folder, text: str) -> None:
    found = folder(grade_json=text, snapshots_json=text, findings__d_json=text)
    assert found.report is None and found.history == ()
    assert [(each.detector, each.outcome) for each in found.judgements] == [("d", "failed")]  # rather than clean


def test_a_pipe_is_not_waited_for(folder, tmp_path) -> None:
    os.mkfifo(tmp_path / "grade.json")
    assert folder().report is None


def test_grades_of_runs_without_result_are_not_read(run, report, tmp_path) -> None:
    (tmp_path / "grade.json").write_text(json.dumps(report().to_json()))
    assert read_graded(run(folder=tmp_path, state="cancelled")).report is None
