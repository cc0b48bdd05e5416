"""Tasks in inspect itself, with a scripted model: what the sandbox holds, what the log says, and the import of it."""

from __future__ import annotations

import importlib.util
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import mlecore
from mlecore.sharing.importing import import_runs

inspect_ai = pytest.importorskip("inspect_ai", reason="inspect-ai is not installed")

HERE = Path(__file__).parent
ID = "spaceship-titanic"
HUNT = """
import os
found = []
for top in ("home", "opt", "tmp", "mnt", "root", "var", "srv", "run"):
    for folder, _, names in os.walk("/" + top):
        for name in names:
            path = os.path.join(folder, name)
            if os.path.isfile(path) and {secret!r}.encode() in open(path, "rb").read():
                found.append(path)
print(found or "no answers")
"""
SUBMIT = ("submit", {"answer": "done"})


@pytest.fixture(scope="session", autouse=True)
def _bubble() -> None:
    spec = importlib.util.spec_from_file_location("bubble", HERE / "bubble.py")
    assert spec and spec.loader
    spec.loader.exec_module(importlib.util.module_from_spec(spec))


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory with synthetic data of one competition."""
    from mlecore.data.layout import DataDirs
    from mlecore.data.preparing import prepare
    from mlecore.data.sources import Synthetic

    folder = tmp_path_factory.mktemp("data")
    prepare(mlecore.competition(ID), DataDirs.of([folder]), Synthetic())
    return folder


def evaluate(
    folder: Path, data: Path, calls: Sequence[tuple[str, dict[str, Any]]], task: str = ID, **options: Any
) -> Any:
    """The log of an evaluation in which the model makes these calls of tools."""
    from inspect_ai import eval as evaluate_task
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    epochs = options.pop("epochs", None)
    outputs = [ModelOutput.for_tool_call("mockllm/model", name, arguments) for name, arguments in calls]
    for output in outputs:
        output.usage = ModelUsage(input_tokens=100, output_tokens=10, total_tokens=110)
    seeds = options.get("seed", 0)
    rounds = (epochs or 1) * (len(seeds) if isinstance(seeds, list) else 1)
    logs = evaluate_task(
        f"mlecore/{task}",
        model=get_model("mockllm/model", custom_outputs=outputs * rounds),
        task_args={"synthetic": True, "data": str(data), "delivery": "copy", "outputs": str(folder / "out")} | options,
        sandbox="bubble",
        log_dir=str(folder / "logs"),
        display="none",
        max_samples=1,
        epochs=epochs,
    )
    return logs[0]


def bash(command: str) -> tuple[str, dict[str, Any]]:
    return ("bash", {"command": command})


@pytest.mark.sandbox
def test_a_submission_is_graded_as_mlecore_grades_it(tmp_path: Path, data: Path) -> None:
    log = evaluate(
        tmp_path,
        data,
        [
            bash("cp /opt/mlecore/sample.csv /home/submission/submission.csv; echo print >/home/code/solve.py"),
            bash("sh /home/validate_submission.sh"),
            SUBMIT,
        ],
        seed=3,
    )
    assert log.status == "success", log.error
    sample = log.samples[0]
    assert sample.id == f"{ID}--3"
    prepared = mlecore.competition(ID).data([data], synthetic=True)
    expected = mlecore.competition(ID).report(prepared.public / "sample_submission.csv", prepared)
    score = sample.scores["grade"]
    assert score.value["score"] == expected.exact
    assert score.value["valid"] == 1
    assert math.isnan(score.value["medal"])
    metrics = {score.name: score.metrics for score in log.results.scores}
    assert metrics["score"]["mean"].value == expected.exact
    assert set(metrics["valid"]) == {"mean", "stderr"}
    said = " ".join(message.text for message in sample.messages if message.role == "tool")
    assert "well-formed" in said or "valid" in said

    imported = import_runs(tmp_path / "logs", tmp_path / "runs", name="g")
    assert imported.runs == 1 and not imported.without_grade
    (run,) = mlecore_runs(tmp_path / "runs" / "g")
    assert (run.competition, run.seed, run.state, run.data_kind) == (ID, 3, "graded", "synthetic")
    assert run.model == "mockllm/model"
    assert run.imported_from == "inspect"
    assert run.report.exact == expected.exact
    assert run.submission.read_bytes() == (prepared.public / "sample_submission.csv").read_bytes()
    assert (run.folder / "code" / "solve.py").read_text() == "print\n"
    assert run.seconds and run.ended == "finished"
    assert (run.calls.calls, run.usage.input_tokens, run.usage.output_tokens) == (3, 300, 30)


@pytest.mark.slow
@pytest.mark.sandbox
def test_the_sandbox_holds_no_answers_and_no_way_to_this_machine(tmp_path: Path, data: Path) -> None:
    prepared = mlecore.competition(ID).data([data], synthetic=True)
    answers = next(prepared.private.glob("*.csv"))
    secret = answers.read_text().splitlines()[1]
    log = evaluate(
        tmp_path,
        data,
        [
            bash(f"ls {prepared.private} {data} || echo out of reach"),
            ("python", {"code": HUNT.format(secret=secret)}),
            bash("ls -lR /home/data /opt/mlecore | wc -l"),
            SUBMIT,
        ],
    )
    said = [message.text for message in log.samples[0].messages if message.role == "tool"]
    assert "out of reach" in said[0]
    assert said[1].strip() == "no answers"
    assert int(said[2]) > 5  # the data are there: it would have found something
    assert log.samples[0].scores["grade"].value["valid"] == 0


@pytest.mark.slow
@pytest.mark.sandbox
def test_links_are_no_submissions_and_a_silent_model_ends(tmp_path: Path, data: Path) -> None:
    log = evaluate(tmp_path, data, [bash("ln -s /opt/mlecore/sample.csv /home/submission/submission.csv"), SUBMIT])
    report = log.samples[0].scores["grade"].metadata["report"]
    assert report["status"] == "none"

    from inspect_ai import eval as evaluate_task
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    options = {"synthetic": True, "data": str(data), "delivery": "copy", "outputs": str(tmp_path / "out")}
    silent = ModelOutput.from_content("mockllm/model", "I do not know.")
    silent.usage = ModelUsage()
    logs = evaluate_task(
        f"mlecore/{ID}",
        model=get_model("mockllm/model", custom_outputs=lambda *_: silent),
        task_args=options,
        sandbox="bubble",
        log_dir=str(tmp_path / "logs"),
        display="none",
    )
    assert logs[0].status == "success"
    assert len(logs[0].samples[0].messages) < 10


@pytest.mark.slow
@pytest.mark.sandbox
def test_seeds_and_epochs_become_runs(tmp_path: Path, data: Path) -> None:
    log = evaluate(
        tmp_path,
        data,
        [bash("cp /opt/mlecore/sample.csv /home/submission/submission.csv"), SUBMIT],
        seed=[5, 7],
        epochs=2,
    )
    assert log.status == "success", log.error
    import_runs(Path(log.location), tmp_path / "runs", name="g", agent="mine")
    runs = mlecore_runs(tmp_path / "runs" / "g")
    assert [run.seed for run in runs] == [0, 1, 2, 3]
    assert {run.label for run in runs} == {"mine"}
    assert all(run.report.valid_submission for run in runs)


@pytest.mark.slow
@pytest.mark.sandbox
def test_the_conversation_is_imported_as_a_trace(tmp_path: Path, data: Path) -> None:
    from click.testing import CliRunner

    from mlecore.cli import main

    evaluate(tmp_path, data, [bash("echo 4321 | rev"), SUBMIT])
    import_runs(tmp_path / "logs", tmp_path / "runs", name="g")
    (run,) = mlecore_runs(tmp_path / "runs" / "g")
    printed = CliRunner().invoke(main, ["runs", "trace", f"g/{run.name}", "--runs", str(tmp_path / "runs")])
    assert printed.exit_code == 0, printed.output
    trace = json.loads(printed.stdout)
    assert "1234" in json.dumps(trace)
    assert any("rev" in json.dumps(step.get("tool_calls", "")) for step in trace["steps"])


def mlecore_runs(group: Path) -> list[Any]:
    from mlecore.runs.store import load_group

    return load_group(group)
