"""The import of jobs of Harbor, whole and broken."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from mle_ext_sharing.importing import import_runs

from mlecore.cli import main
from mlecore.data.prepared import Prepared
from mlecore.errors import UsageError
from mlecore.runs.store import load_group

ID = "spaceship-titanic"


@pytest.fixture
def report(prepared: Prepared, verify: Callable[[Path], dict[str, float]], tmp_path: Path) -> Path:
    """The verifier's report of the sample submission."""
    verify(prepared.public / "sample_submission.csv")
    return tmp_path / "verifier" / "report.json"


@pytest.fixture
def job(tmp_path: Path) -> Path:
    folder = tmp_path / "job"
    folder.mkdir()
    (folder / "result.json").write_text("{}")
    return folder


def trial(job: Path, name: str, report: Path | None, started: str, **result: Any) -> Path:
    folder = job / name
    (folder / "artifacts" / "home" / "submission").mkdir(parents=True)
    (folder / "agent").mkdir()
    (folder / "verifier").mkdir()
    if report:
        shutil.copy(report, folder / "verifier" / "report.json")
    facts = {
        "task_name": f"mlecore/{ID}",
        "agent_info": {"name": "claude-code", "version": "2.0", "model_info": {"name": "sonnet"}},
        "agent_result": {"n_input_tokens": 70, "n_output_tokens": 7},
        "agent_execution": {"started_at": "2026-01-01T10:00:00Z", "finished_at": "2026-01-01T10:01:00Z"},
        "started_at": started,
    }
    (folder / "result.json").write_text(json.dumps(facts | result))
    return folder


def test_a_job_becomes_a_group(prepared: Prepared, report: Path, job: Path, tmp_path: Path) -> None:
    late = trial(job, "a", report, "2026-01-01T11:00:00Z")
    (late / "artifacts/home/submission/submission.csv").symlink_to("/etc/passwd")
    early = trial(job, "b", report, "2026-01-01T10:00:00Z")
    shutil.copy(prepared.public / "sample_submission.csv", early / "artifacts/home/submission/submission.csv")
    (early / "agent" / "trajectory.json").write_text("{}")
    failure = {"exception_type": "EnvironmentStartTimeoutError", "exception_message": "too slow"}
    trial(job, "c", None, "2026-01-01T12:00:00Z", exception_info=failure)
    trial(job, "other", report, "2026-01-01T12:00:00Z", task_name="terminal-bench/hello")
    trial(job, "theirs", None, "2026-01-01T13:00:00Z", task_name=f"mlebench-{ID}")  # of another adapter

    imported = import_runs(job, tmp_path / "runs", name="g")
    assert (imported.runs, imported.without_grade) == (4, ("c", "theirs"))
    first, second, third, _ = load_group(tmp_path / "runs" / "g")
    assert (first.state, first.model, first.seconds, first.label) == ("graded", "sonnet", 60.0, "claude-code-sonnet")
    assert first.usage is not None and (first.usage.input_tokens, first.usage.output_tokens) == (70, 7)
    assert first.submission is not None and first.data_kind == "synthetic"
    assert (first.folder / "logs" / "agent" / "trajectory.json").is_file()
    assert second.submission is None  # a link is no file
    assert (third.state, third.ended) == ("failed", "crashed")
    assert "too slow" in third.reason


def test_a_report_of_another_competition_is_rejected(report: Path, job: Path, tmp_path: Path) -> None:
    trial(job, "a", report, "", task_name="mlecore/leaf-classification")
    with pytest.raises(UsageError, match="worked on leaf-classification"):
        import_runs(job, tmp_path / "runs")


def test_real_data_that_need_no_account_belong_to_a_job_on_synthetic_data(
    report: Path, job: Path, tmp_path: Path
) -> None:
    other = json.loads(report.read_text()) | {"competition_id": "optical-digits", "data_kind": "no_leaderboard"}
    (tmp_path / "other.json").write_text(json.dumps(other))
    trial(job, "a", report, "2026-01-01T10:00:00Z")
    trial(job, "b", tmp_path / "other.json", "2026-01-01T11:00:00Z", task_name="mlecore/optical-digits")
    assert import_runs(job, tmp_path / "runs", name="g").runs == 2
    kinds = {run.competition: run.data_kind for run in load_group(tmp_path / "runs" / "g")}
    assert kinds == {ID: "synthetic", "optical-digits": "no_leaderboard"}

    (tmp_path / "other.json").write_text(json.dumps(other | {"data_kind": "published"}))
    trial(job, "c", tmp_path / "other.json", "2026-01-01T12:00:00Z", task_name="mlecore/optical-digits")
    with pytest.raises(UsageError, match="real and of synthetic data"):
        import_runs(job, tmp_path / "runs", name="h")


def test_broken_trials_are_named_and_the_others_imported(report: Path, job: Path, tmp_path: Path) -> None:
    trial(job, "good", report, "2026-01-01T10:00:00Z")
    (trial(job, "damaged", report, "") / "result.json").write_text('{"task_name": "mlecore/')
    (trial(job, "other-report", report, "", task_name="mlecore/leaf-classification")).mkdir(exist_ok=True)
    (trial(job, "bad-report", report, "") / "verifier" / "report.json").write_text("[]")
    (trial(job, "killed", None, "") / "result.json").unlink()
    (job / "empty").mkdir()  # no trial
    cancelled = {"exception_type": "CancelledError", "exception_message": ""}
    trial(job, "cancelled", None, "2026-01-01T11:00:00Z", exception_info=cancelled)
    slow = {"exception_type": "AgentTimeoutError", "exception_message": "after 60 seconds"}
    trial(job, "slow", report, "2026-01-01T12:00:00Z", exception_info=slow)

    imported = import_runs(job, tmp_path / "runs", name="g")
    reasons = dict(line.split(": ", 1) for line in imported.left_out)
    assert sorted(reasons) == ["bad-report", "damaged", "killed", "other-report"]
    assert "did not end" in reasons["killed"]
    good, stopped, slow_one = load_group(tmp_path / "runs" / "g")
    assert (good.state, good.ended) == ("graded", "finished")
    assert (stopped.state, stopped.ended) == ("cancelled", "stopped")
    assert (slow_one.state, slow_one.ended) == ("graded", "timed_out")
    printed = CliRunner().invoke(main, ["report", "g", "--runs", str(tmp_path / "runs")])
    assert printed.exit_code == 0, printed.output
    assert "claude-code-sonnet" in printed.output
