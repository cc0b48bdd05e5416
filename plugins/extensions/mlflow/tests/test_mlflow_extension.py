"""Runs in MLflow, in a store of files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import mle_ext_mlflow as extension
import pytest
from attrs import evolve

from mlecore.model.agents import Usage
from mlecore.model.detectors import Finding
from mlecore.model.findings import Findings
from mlecore.model.provenance import PluginUse
from mlecore.model.record import RunRecord
from mlecore.runs.findings import write_findings
from mlecore.runs.store import write_record
from mlecore_testing.grades import report
from mlecore_testing.records import a_run

if TYPE_CHECKING:  # importing it takes seconds
    from mlflow.tracking import MlflowClient

pytestmark = pytest.mark.slow


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    from mlflow.tracking import MlflowClient

    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", (tmp_path / "store").as_uri())
    extension._client.cache_clear()
    yield MlflowClient(tracking_uri=(tmp_path / "store").as_uri())
    extension._client.cache_clear()


@pytest.fixture
def run(tmp_path: Path) -> RunRecord:
    folder = tmp_path / "g" / "baseline--leaf-classification--0"
    for name in ("run.json", "grade.json", "submission/submission.csv", "logs/agent.log"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
    (folder / "logs" / "link").symlink_to("/etc/hostname")
    agent = PluginUse(name="baseline", version="1.0", options={"depth": "3"})
    return a_run(folder, uid="abc", competition="leaf-classification", agent=agent, label="deep", state="running")


REPORT = report(0.82, "bronze")


def only(client: MlflowClient):
    experiment = client.get_experiment_by_name("g")
    assert experiment is not None
    (found,) = client.search_runs([experiment.experiment_id])
    return found


def names(client: MlflowClient, id: str, folder: str | None = None) -> set[str]:
    return {item.path for item in client.list_artifacts(id, folder)}


def test_the_life_of_a_run(client: MlflowClient, run: RunRecord) -> None:
    extension.run_started(run)
    found = only(client)
    assert found.info.status == "RUNNING" and found.info.run_name == run.name
    assert (found.data.params["label"], found.data.tags["mlecore.label"]) == ("deep", "deep")
    assert found.data.params["option depth"] == "3" and found.data.params["competition"] == "leaf-classification"
    done = evolve(run, ended="finished", seconds=12.5, usage=Usage(input_tokens=7, cost_usd=0.25))
    extension.run_finished(done)
    extension.run_graded(done, REPORT)
    found = only(client)
    assert found.info.status == "FINISHED"
    assert found.data.metrics == {
        "seconds": 12.5,
        "input_tokens": 7.0,
        "cost_usd": 0.25,
        "valid": 1.0,
        "score": 0.82,
        "any_medal": 1.0,
        "above_median": 1.0,
    }
    assert found.data.tags["mlecore.medal"] == "bronze"
    assert names(client, found.info.run_id) == {"run.json", "grade.json", "submission", "logs"}
    assert names(client, found.info.run_id, "logs") == {"logs/agent.log"}  # no link


def test_events_that_come_twice_make_one_run(client: MlflowClient, run: RunRecord) -> None:
    for _ in range(2):
        extension.run_started(run)
        extension.run_finished(evolve(run, ended="crashed"))
        extension.run_graded(run, evolve(REPORT, status="invalid", valid_submission=False, score=None))
    assert only(client).info.status == "FAILED"


def test_a_valid_submission_is_no_failure(client: MlflowClient, run: RunRecord) -> None:
    crashed = evolve(run, ended="crashed")
    extension.run_started(run)
    extension.run_finished(crashed)
    assert only(client).info.status == "FAILED"  # as far as anyone knows yet
    extension.run_graded(crashed, REPORT)
    found = only(client)
    assert found.info.status == "FINISHED"
    assert (found.data.tags["mlecore.ended"], found.data.tags["mlecore.submission"]) == ("crashed", "graded")


def test_findings(client: MlflowClient, run: RunRecord) -> None:
    copied = Finding(verdict="violation", rule="copied", summary="the same as a public notebook")
    clean = Finding(verdict="clean", rule="leaks", summary="none used")
    judged = Findings(
        run=run.uid,
        detector=PluginUse(name="dolos"),
        created_at="2026-01-01T00:00:00+00:00",
        seconds=1.0,
        findings=(clean, copied),
        group="g",
    )
    write_record(evolve(run, state="collected"))
    write_findings(run, judged)
    extension.run_judged(run, judged)
    extension.run_judged(run, evolve(judged, detector=PluginUse(name="rules"), findings=(), failed="no model"))
    found = only(client)
    assert found.data.tags["mlecore.detector.dolos"] == "violation"
    assert found.data.tags["mlecore.detector.dolos.findings"] == "violation, copied: the same as a public notebook"
    assert found.data.tags["mlecore.detector.rules"] == "failed"
    assert found.data.tags["mlecore.detector.rules.findings"] == "no model"
    assert names(client, found.info.run_id, "findings") == {"findings/dolos.json"}


def test_no_medals_are_no_zeros(client: MlflowClient, run: RunRecord) -> None:
    none = dict.fromkeys(f"{name}_threshold" for name in ("gold", "silver", "bronze", "median"))
    extension.run_graded(run, evolve(REPORT, any_medal=False, bronze_medal=False, data_kind="synthetic", **none))
    found = only(client)
    assert found.data.metrics == {"valid": 1.0, "score": 0.82} and "mlecore.medal" not in found.data.tags


def test_nowhere_to_log(run: RunRecord, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    monkeypatch.chdir(tmp_path)
    for hook in (extension.run_started, extension.run_finished):
        hook(run)
    extension.run_graded(run, REPORT)
    assert not (tmp_path / "mlruns").exists() and not (tmp_path / "mlflow.db").exists()
