"""Tasks in inspect itself, with a scripted model: what the sandbox holds, what the log says."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mle_ext_sharing.importing import import_runs

import mlecore
from mlecore.data.prepared import Prepared
from mlecore_testing.answers_hunt import found, program

pytest.importorskip("inspect_ai", reason="inspect-ai is not installed")

ID = "spaceship-titanic"
SUBMIT = ("submit", {"answer": "done"})


def bash(command: str) -> tuple[str, dict[str, Any]]:
    return ("bash", {"command": command})


@pytest.mark.sandbox
def test_a_submission_is_graded_as_mlecore_grades_it(
    evaluate: Callable[..., Any], prepared: Prepared, tmp_path: Path
) -> None:
    log = evaluate(
        tmp_path,
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
    expected = mlecore.grade(mlecore.competition(ID), prepared.public / "sample_submission.csv", prepared)
    score = sample.scores["grade"]
    assert score.value["score"] == expected.exact
    assert score.value["valid"] == 1
    assert math.isnan(score.value["medal"])
    assert f"Score {expected.score_text}, higher is better" in score.explanation
    assert "No medals: synthetic data" in score.explanation
    assert "{" not in sample.messages[0].text  # react fills in nothing
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
def test_the_sandbox_holds_no_answers_and_no_way_to_this_machine(
    evaluate: Callable[..., Any], prepared: Prepared, tmp_path: Path
) -> None:
    planted = next(prepared.private.glob("*.csv")).read_text()
    log = evaluate(
        tmp_path,
        [
            bash(f"ls {prepared.private} || echo out of reach; ls -R /home/data /opt/mlecore | wc -l"),
            ("python", {"code": f"open('/tmp/planted', 'w').write({planted!r})"}),
            ("python", {"code": program(prepared)}),
            bash("ln -s /opt/mlecore/sample.csv /home/submission/submission.csv"),
            SUBMIT,
        ],
    )
    said = [message.text for message in log.samples[0].messages if message.role == "tool"]
    assert "out of reach" in said[0]
    assert int(said[0].split()[-1]) > 5  # the data are there
    hunted = found(said[2])
    assert (hunted.answers, hunted.reached) == (["/tmp/planted"], [])  # and no others
    score = log.samples[0].scores["grade"]
    assert (score.value["valid"], score.explanation) == (0, "No submission")  # a link is none
    assert score.metadata["report"]["status"] == "none"


def test_what_is_copied_goes_to_kubernetes_too() -> None:
    """Its reading of Compose files rejects other keys, and sizes without a unit."""
    from mle_ext_inspect.container import container
    from mle_ext_inspect.setting import Setting

    wanted = Setting(delivery="copy", image="python", cpus=2, memory=2**30, network="none")
    service = container(Path("/data"), wanted).services["default"].model_dump(exclude_none=True)
    known = {"image", "entrypoint", "working_dir", "init", "security_opt", "network_mode", "cpus", "mem_limit"}
    assert set(service) == known
    assert service["mem_limit"] == "1073741824b"


def mlecore_runs(group: Path) -> list[Any]:
    from mlecore.runs.store import load_group

    return load_group(group)
