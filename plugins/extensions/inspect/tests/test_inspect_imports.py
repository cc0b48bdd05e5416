"""The import of logs as they are left by retries, errors, cancelled samples, other tasks and full disks."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from mle_ext_sharing.importing import import_runs

from mlecore.cli import main
from mlecore.errors import UsageError
from mlecore.runs.store import load_group

pytest.importorskip("inspect_ai", reason="inspect-ai is not installed")

pytestmark = [pytest.mark.slow, pytest.mark.sandbox]
SUBMIT = ("submit", {"answer": "done"})


@pytest.fixture(scope="module")
def log(evaluate: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Of two seeds and two epochs."""
    solve = ("bash", {"command": "cp /opt/mlecore/sample.csv /home/submission/submission.csv; echo 4321 | rev"})
    log = evaluate(tmp_path_factory.mktemp("logs"), [solve, SUBMIT], seed=[5, 7], epochs=2)
    assert log.status == "success", log.error
    return log


def write(log: Any, path: Path, samples: int = 2, **changes: Any) -> Any:
    """A log of its own with the first epoch's samples."""
    from inspect_ai.log import write_eval_log

    path.parent.mkdir(exist_ok=True)
    kept = [sample.model_copy(deep=True) for sample in log.samples if sample.epoch == 1][:samples]
    copy = log.model_copy(update={"samples": kept, **changes}, deep=True)
    copy.eval.task_id = path.stem
    write_eval_log(copy, str(path))
    return copy


def failed(sample: Any, message: str) -> None:
    from inspect_ai.log import EvalError

    sample.error, sample.scores = EvalError(message=message, traceback="", traceback_ansi=""), None


def reasons(runs: Path) -> dict[int, tuple[str, str | None, str]]:
    return {run.seed: (run.state, run.ended, run.reason) for run in load_group(runs / "g")}


def test_seeds_and_epochs_become_runs_with_their_conversations(log: Any, tmp_path: Path) -> None:
    imported = import_runs(Path(log.location), tmp_path, name="g", agent="mine")
    assert (imported.runs, imported.left_out) == (4, ())
    runs = load_group(tmp_path / "g")
    assert [run.seed for run in runs] == [0, 1, 2, 3]
    assert {run.label for run in runs} == {"mine"}
    assert all(run.report is not None and run.report.valid_submission for run in runs)
    printed = CliRunner().invoke(main, ["runs", "trace", f"g/{runs[0].name}", "--runs", str(tmp_path)])
    assert printed.exit_code == 0, printed.output
    assert "1234" in printed.stdout
    assert any("rev" in json.dumps(step.get("tool_calls", "")) for step in json.loads(printed.stdout)["steps"])
    printed = CliRunner().invoke(main, ["report", "g", "--runs", str(tmp_path)])
    assert (printed.exit_code, "mine" in printed.output) == (0, True), printed.output


def test_a_retried_task_counts_once_as_it_ended_last(log: Any, tmp_path: Path) -> None:
    """inspect's retry writes a second log, with the samples that had succeeded and those that it ran again."""
    from inspect_ai.log import EvalRetryError, read_eval_log, write_eval_log

    first, second = tmp_path / "logs" / "first.eval", tmp_path / "logs" / "second.eval"
    attempt = write(log, first, status="error")
    failed(attempt.samples[1], "sandbox is gone")
    write_eval_log(attempt, str(first))
    retry = write(log, second)
    retry.eval.task_id, retry.eval.created = "first", "2099-01-01T00:00:00+00:00"
    retry.samples[1].error_retries = [EvalRetryError(message="sandbox is gone", traceback="", traceback_ansi="")]
    write_eval_log(retry, str(second))
    assert read_eval_log(str(first)).samples[1].error

    imported = import_runs(tmp_path / "logs", tmp_path, name="g")
    assert (imported.runs, imported.left_out) == (2, ())
    assert reasons(tmp_path)[5] == ("graded", "finished", "")
    state, ended, reason = reasons(tmp_path)[7]
    assert (state, ended) == ("graded", "finished")
    assert reason == "1 attempt failed in inspect before this one: sandbox is gone"
    printed = CliRunner().invoke(main, ["report", "g", "--runs", str(tmp_path)])
    assert printed.exit_code == 0, printed.output


def test_errors_cancelled_and_invalid_samples_say_so(log: Any, tmp_path: Path) -> None:
    from inspect_ai.log import EvalSampleLimit, ProvenanceData, write_eval_log

    path = tmp_path / "log.eval"
    changed = log.model_copy(deep=True)
    changed.status = "cancelled"
    error, cancelled, invalid, ended = changed.samples
    for number, sample in enumerate(changed.samples):
        sample.epoch, sample.metadata["seed"], sample.id = 1, number, f"spaceship-titanic--{number}"
    changed.eval.dataset.sample_ids = [sample.id for sample in changed.samples]
    changed.eval.config.epochs = 1
    failed(error, "RuntimeError: no room")
    failed(cancelled, "CancelledError()")
    invalid.invalidation = ProvenanceData(author="somebody", reason="it read the answers")
    ended.limit = EvalSampleLimit(type="operator", limit=1)
    write_eval_log(changed, str(path))

    import_runs(path, tmp_path, name="g")
    found = reasons(tmp_path)
    assert found[0] == ("failed", "crashed", "error in inspect: RuntimeError: no room")
    assert found[1] == ("cancelled", "stopped", "cancelled in inspect")
    assert found[2] == ("failed", "finished", "declared invalid in inspect: it read the answers")
    assert found[3] == ("graded", "stopped", "inspect's limit was reached: operator")


def test_damaged_logs_and_other_tasks_leave_the_rest_importable(log: Any, tmp_path: Path) -> None:
    from inspect_ai.log import write_eval_log

    good = tmp_path / "logs" / "good.eval"
    write(log, good)
    other = write(log, tmp_path / "logs" / "other.eval")
    for sample in other.samples:
        sample.metadata = {"difficulty": "hard"}
    write_eval_log(other, str(tmp_path / "logs" / "other.eval"))
    forged = write(log, tmp_path / "logs" / "forged.eval", samples=1)
    forged.samples[0].metadata |= {"competition": "leaf-classification", "seed": 9}
    write_eval_log(forged, str(tmp_path / "logs" / "forged.eval"))
    (tmp_path / "logs" / "cut.eval").write_bytes(good.read_bytes()[:3000])
    (tmp_path / "logs" / "notes.eval").write_text("no log")

    imported = import_runs(tmp_path / "logs", tmp_path, name="g")
    assert imported.runs == 2
    cut, foreign = sorted(imported.left_out)
    assert "cut.eval" in cut and "cannot be read" in cut
    assert "forged.eval" in foreign and "worked on leaf-classification" in foreign
    with pytest.raises(UsageError, match=r"cut\.eval"):
        import_runs(tmp_path / "logs" / "cut.eval", tmp_path, name="h")


def test_a_log_of_inspect_evals_has_its_reports_and_nothing_else(log: Any, tmp_path: Path) -> None:
    from inspect_ai.log import write_eval_log

    copy = log.model_copy(deep=True)
    copy.eval.task, copy.samples = "inspect_evals/mle_bench", copy.samples[:1]
    (sample,) = copy.samples
    (score,) = sample.scores.values()
    score.explanation, score.metadata = json.dumps(score.metadata["report"]), {}
    sample.id = json.loads(score.explanation)["competition_id"]
    sample.metadata, sample.uuid, copy.eval.dataset.sample_ids = {}, "gone", [sample.id]
    path = tmp_path / "log.json"
    write_eval_log(copy, str(path))
    imported = import_runs(path, tmp_path, name="g", agent="theirs")
    assert (imported.runs, imported.without_grade) == (1, ())
    (run,) = load_group(tmp_path / "g")
    assert run.report and run.report.valid_submission and run.imported_from == "inspect"
