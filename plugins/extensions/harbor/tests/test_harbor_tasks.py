"""Task folders for Harbor, their verifier, and the import of a job, with synthetic data and without Harbor."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from mle_ext_harbor.exporting import VERIFIER

import mlecore
from mlecore.cli import main
from mlecore.errors import DataError
from mlecore.runs.store import load_group
from mlecore.sharing.importing import import_runs

ID = "spaceship-titanic"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from mlecore.data.layout import DataDirs
    from mlecore.data.preparing import prepare
    from mlecore.data.sources import Synthetic

    folder = tmp_path_factory.mktemp("data")
    prepare(mlecore.competition(ID), DataDirs.of([folder]), Synthetic())
    return folder


@pytest.fixture(scope="module")
def task(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("export") / "tasks"
    arguments = ["export", "harbor", ID, "--synthetic", "--data", str(data), "--out", str(out), "--memory", "2GiB"]
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 0, done.output
    again = CliRunner().invoke(main, arguments)
    assert (again.exit_code, "already exists" in again.output) == (2, True)
    return out / ID


def services(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "docker-compose.yaml").read_text())["services"]["main"]


def test_the_task_mounts_what_each_side_may_see(task: Path, data: Path) -> None:
    prepared = mlecore.competition(ID).data([data], synthetic=True)
    config = tomllib.loads((task / "task.toml").read_text())
    assert config["task"]["name"] == f"mlecore/{ID}"
    assert config["verifier"]["environment_mode"] == "separate"
    assert config["environment"] == {"network_mode": "public", "memory_mb": 2048}
    assert config["agent"]["timeout_sec"] == 24 * 3600
    (mount,) = services(task / "environment")["volumes"]
    assert (mount["source"], mount["target"], mount["read_only"]) == (str(prepared.public), "/home/data", True)
    verifier = services(task / "tests")
    assert verifier["network_mode"] == "none"
    assert str(prepared.root) in {mount["source"] for mount in verifier["volumes"]}
    assert all(mount["read_only"] for mount in verifier["volumes"])


def test_no_answer_is_in_the_folder(task: Path, data: Path) -> None:
    prepared = mlecore.competition(ID).data([data], synthetic=True)
    answers = next(prepared.private.glob("*.csv")).read_text().splitlines()
    files = [path for path in task.rglob("*") if path.is_file()]
    assert len(files) > 8
    text = "\n".join(path.read_text() for path in files)
    assert not [line for line in answers[1:] if f"\n{line}\n" in text and line not in sample(prepared)]


def sample(prepared: Any) -> list[str]:
    return (prepared.public / "sample_submission.csv").read_text().splitlines()


def verify(task: Path, data: Path, folder: Path, submission: Path) -> dict[str, float]:
    """What the verifier says, with the places of its container moved into ``folder``."""
    spec = importlib.util.spec_from_file_location("grade", VERIFIER / "grade.py")
    assert spec and spec.loader
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    inside = json.loads((task / "tests" / "prepared.json").read_text())
    root = mlecore.competition(ID).data([data], synthetic=True).root
    (folder / "prepared.json").write_text(json.dumps(inside | {"root": str(root), "lists": str(root)}))
    program.__file__ = str(folder / "grade.py")
    program.SUBMISSION, program.OUTPUT = submission, folder / "verifier"
    program.main()
    return json.loads((folder / "verifier" / "reward.json").read_text())


def test_the_verifier_grades_as_mlecore_does(task: Path, data: Path, tmp_path: Path) -> None:
    prepared = mlecore.competition(ID).data([data], synthetic=True)
    best = tmp_path / "best.csv"
    mlecore.competition(ID).perfect(prepared.private).to_csv(best, index=False)
    expected = mlecore.competition(ID).report(best, prepared)
    rewards = verify(task, data, tmp_path, best)
    assert rewards == {"reward": 1.0, "valid": 1.0, "score": expected.exact, "beats_sample": 1.0}
    link = tmp_path / "submission.csv"
    link.symlink_to(best)
    assert verify(task, data, tmp_path, link) == {"reward": 0.0, "valid": 0.0, "beats_sample": 0.0}


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


def test_a_job_becomes_a_group(task: Path, data: Path, tmp_path: Path) -> None:
    prepared = mlecore.competition(ID).data([data], synthetic=True)
    verify(task, data, tmp_path, prepared.public / "sample_submission.csv")
    report, job = tmp_path / "verifier" / "report.json", tmp_path / "job"
    job.mkdir()
    (job / "result.json").write_text("{}")
    late = trial(job, "a", report, "2026-01-01T11:00:00Z")
    (late / "artifacts/home/submission/submission.csv").symlink_to("/etc/passwd")
    early = trial(job, "b", report, "2026-01-01T10:00:00Z")
    shutil.copy(prepared.public / "sample_submission.csv", early / "artifacts/home/submission/submission.csv")
    (early / "agent" / "trajectory.json").write_text("{}")
    failure = {"exception_type": "EnvironmentStartTimeoutError", "exception_message": "too slow"}
    trial(job, "c", None, "2026-01-01T12:00:00Z", exception_info=failure)
    trial(job, "other", report, "2026-01-01T12:00:00Z", task_name="terminal-bench/hello")

    imported = import_runs(job, tmp_path / "runs", name="g")
    assert imported.runs == 3
    first, second, third = load_group(tmp_path / "runs" / "g")
    assert (first.state, first.model, first.seconds, first.label) == ("graded", "sonnet", 60.0, "claude-code-sonnet")
    assert first.usage is not None and (first.usage.input_tokens, first.usage.output_tokens) == (70, 7)
    assert first.submission is not None and first.data_kind == "synthetic"
    assert (first.folder / "logs" / "agent" / "trajectory.json").is_file()
    assert second.submission is None  # a link is no file
    assert (third.state, third.ended) == ("failed", "crashed")
    assert "too slow" in third.reason


def test_a_report_of_another_competition_is_rejected(task: Path, data: Path, tmp_path: Path) -> None:
    prepared = mlecore.competition(ID).data([data], synthetic=True)
    verify(task, data, tmp_path, prepared.public / "sample_submission.csv")
    job = tmp_path / "job"
    job.mkdir()
    (job / "result.json").write_text("{}")
    trial(job, "a", tmp_path / "verifier" / "report.json", "", task_name="mlecore/leaf-classification")
    with pytest.raises(DataError, match="worked on leaf-classification"):
        import_runs(job, tmp_path / "runs")


@pytest.mark.slow
@pytest.mark.network
def test_harbor_accepts_the_task(task: Path, tmp_path: Path) -> None:
    python = next(filter(None, map(shutil.which, ("python3.12", "python3.13"))), None)
    uv = Path(importlib.util.find_spec("mlecore").origin).parents[1] / ".venv/bin/uv"  # type: ignore[union-attr, arg-type]
    if python is None or subprocess.run([python, "-V"], capture_output=True).returncode or not uv.exists():
        pytest.skip("Harbor needs Python 3.12, and uv to be installed with")
    subprocess.run([uv, "venv", "-q", "--python", python, tmp_path / "venv"], check=True)
    inside = tmp_path / "venv" / "bin" / "python"
    subprocess.run([uv, "pip", "install", "-q", "--python", inside, "harbor>=0.26,<0.27"], check=True)
    program = (
        "import sys; from harbor.models.task.task import Task; t = Task(sys.argv[1]); print(t.name, t.config.verifier)"
    )
    done = subprocess.run([inside, "-c", program, task], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"mlecore/{ID} ")
    assert "SEPARATE" in done.stdout
