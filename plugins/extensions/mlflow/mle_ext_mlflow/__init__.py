"""Logs runs to MLflow: one experiment per group, one MLflow run per run, with its settings, score, findings and files.

MLflow decides where to log, by MLFLOW_TRACKING_URI and the other variables that its client reads. Without that variable
nothing is logged. Events may come twice, so a run is looked up by its uid before it is created.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import mlecore

if TYPE_CHECKING:
    from mlflow.entities import Run
    from mlflow.tracking import MlflowClient

    from mlecore.model.findings import Findings
    from mlecore.model.record import RunRecord
    from mlecore.model.report import Report

TRACKING = "MLFLOW_TRACKING_URI"
UID = "mlecore.uid"
LABEL = "mlecore.label"
_LARGEST = 64 * 2**20  # bytes of an artefact
_LONGEST = 4000  # characters of a tag's value; MLflow takes 8,000 bytes
_STATUS = {"finished": "FINISHED", "stopped": "KILLED"}  # by how the process ended; FAILED otherwise


@mlecore.hookimpl
def run_started(run: RunRecord) -> None:
    """Create the run, or take the one that an earlier attempt created."""
    if not os.environ.get(TRACKING):
        return
    client = _client()
    found = _run_of(client, run)
    client.update_run(found.info.run_id, status="RUNNING")
    for name, value in _settings(run):
        client.log_param(found.info.run_id, name, value)


@mlecore.hookimpl
def run_finished(run: RunRecord) -> None:
    """How it ended, what it used, and which files it left. Its status is final once it is graded."""
    if not os.environ.get(TRACKING):
        return
    client = _client()
    run_id = _run_of(client, run).info.run_id
    for name, value in _usage(run):
        client.log_metric(run_id, name, value)
    client.set_tag(run_id, "mlecore.ended", run.ended or "")
    for path in _artefacts(run):
        client.log_artifact(run_id, str(path), path.parent.relative_to(run.folder).as_posix().strip("."))
    client.set_terminated(run_id, _STATUS.get(run.ended or "", "FAILED"))


@mlecore.hookimpl
def run_graded(run: RunRecord, report: Report) -> None:
    """Score and medals. An invalid submission has no score, only ``valid`` 0.

    A run with a valid submission is FINISHED, however its process ended; the tag ``mlecore.ended`` says how.
    """
    if not os.environ.get(TRACKING):
        return
    client = _client()
    run_id = _run_of(client, run).info.run_id
    for name, value in _result(report):
        client.log_metric(run_id, name, value)
    client.set_tag(run_id, "mlecore.submission", report.status)
    if report.gold_threshold is not None:
        client.set_tag(run_id, "mlecore.medal", report.medal or "none")
    if report.reference_words:
        client.set_tag(run_id, "mlecore.reference", report.reference_words)
    if (path := run.folder / "grade.json").is_file():
        client.log_artifact(run_id, str(path))
    if report.valid_submission:
        client.set_tag(run_id, "mlecore.ended", run.ended or "")
        client.set_terminated(run_id, "FINISHED")


@mlecore.hookimpl
def run_judged(run: RunRecord, findings: Findings) -> None:
    """What a detector found, as tags: its outcome, and each finding that throws doubt on the run; and its file."""
    if not os.environ.get(TRACKING):
        return
    client = _client()
    run_id = _run_of(client, run).info.run_id
    name = f"mlecore.detector.{findings.detector.name}"
    summaries = [f"{finding.verdict}, {finding.rule}: {finding.summary}" for finding in findings.flagged]
    client.set_tag(run_id, name, findings.outcome)
    client.set_tag(run_id, f"{name}.findings", (findings.failed or "\n".join(summaries))[:_LONGEST])
    if (path := run.folder / "findings" / f"{findings.detector.name}.json").is_file():
        client.log_artifact(run_id, str(path), "findings")


@cache
def _client() -> MlflowClient:
    from mlflow.tracking import MlflowClient

    return MlflowClient(tracking_uri=os.environ[TRACKING])


def _run_of(client: MlflowClient, run: RunRecord) -> Run:
    """The MLflow run with this uid; created if there is none."""
    experiment = client.get_experiment_by_name(run.group)
    id = experiment.experiment_id if experiment else client.create_experiment(run.group)
    found = client.search_runs([id], f"tags.`{UID}` = '{run.uid}'", max_results=1)
    if found:
        return found[0]
    return client.create_run(id, run_name=run.name, tags={UID: run.uid, LABEL: run.label or run.agent.name})


def _settings(run: RunRecord) -> Iterator[tuple[str, Any]]:
    yield from (("agent", run.agent.name), ("agent version", run.agent.version), ("label", run.label or run.agent.name))
    yield "competition", run.competition
    yield from (("edition", run.edition), ("data_kind", run.data_kind), ("seed", run.seed))
    yield "obfuscation", run.obfuscation
    yield from (("backend", run.backend.name), ("time limit", run.limits.time), ("network", run.limits.network))
    if run.model:
        yield "model", run.model
    for name, value in run.agent.options.items():
        yield f"option {name}", value[:500]


def _usage(run: RunRecord) -> Iterator[tuple[str, float]]:
    if run.seconds is not None:
        yield "seconds", run.seconds
    for name in ("input_tokens", "output_tokens", "cost_usd") if run.usage else ():
        if (value := getattr(run.usage, name)) is not None:
            yield name, value


def _result(report: Report) -> Iterator[tuple[str, float]]:
    yield "valid", float(report.valid_submission)
    if report.score is not None:
        yield "score", report.score
    if report.gold_threshold is not None:
        yield "any_medal", float(report.any_medal)
        yield "above_median", float(report.above_median)
    if report.percentile is not None:
        yield "percentile", report.percentile


def _artefacts(run: RunRecord) -> Iterator[Path]:
    """The record, the submission and the logs: regular files, no links, none that is huge."""
    folders = (run.folder / part for part in ("submission", "logs"))
    found = [run.folder / "run.json", *(path for folder in folders for path in sorted(folder.rglob("*")))]
    for path in found:
        inside = not any(parent.is_symlink() for parent in (path, *path.parents) if run.folder in parent.parents)
        if inside and path.is_file() and path.stat().st_size <= _LARGEST:
            yield path
