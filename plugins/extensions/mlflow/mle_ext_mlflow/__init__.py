"""Logs runs to MLflow: one experiment per group, one MLflow run per run, with its settings, score and artefacts.

MLflow decides where to: by MLFLOW_TRACKING_URI, and what else its client reads from the environment. Without that
variable nothing is logged. Events may come twice, so a run is looked for by its uid before it is made.
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

    from mlecore.grading.report import Report
    from mlecore.runs.record import RunRecord

TRACKING = "MLFLOW_TRACKING_URI"
UID = "mlecore.uid"
_LARGEST = 64 * 2**20  # bytes of an artefact
_ENDS = {"finished": "FINISHED", "stopped": "KILLED"}  # all other ends are failures of the process


@mlecore.hookimpl
def run_started(run: RunRecord) -> None:
    """Make the run, or take the one that an earlier attempt made."""
    if not os.environ.get(TRACKING):
        return
    client = _client()
    found = _run_of(client, run)
    client.update_run(found.info.run_id, status="RUNNING")
    for name, value in _settings(run):
        client.log_param(found.info.run_id, name, value)


@mlecore.hookimpl
def run_finished(run: RunRecord) -> None:
    """How it ended, what it used, and what it left."""
    if not os.environ.get(TRACKING):
        return
    client = _client()
    run_id = _run_of(client, run).info.run_id
    for name, value in _usage(run):
        client.log_metric(run_id, name, value)
    client.set_tag(run_id, "mlecore.ended", run.ended or "")
    for path in _artefacts(run):
        client.log_artifact(run_id, str(path), path.parent.relative_to(run.folder).as_posix().strip("."))
    client.set_terminated(run_id, _ENDS.get(run.ended or "", "FAILED"))


@mlecore.hookimpl
def run_graded(run: RunRecord, report: Report) -> None:
    """Score and medals. An invalid submission has no score, only ``valid`` 0."""
    if not os.environ.get(TRACKING):
        return
    client = _client()
    run_id = _run_of(client, run).info.run_id
    for name, value in _result(report):
        client.log_metric(run_id, name, value)
    client.set_tag(run_id, "mlecore.submission", report.status)
    if report.gold_threshold is not None:
        client.set_tag(run_id, "mlecore.medal", report.medal or "none")
    if (path := run.folder / "grade.json").is_file():
        client.log_artifact(run_id, str(path))


@cache
def _client() -> MlflowClient:
    from mlflow.tracking import MlflowClient

    return MlflowClient(tracking_uri=os.environ[TRACKING])


def _run_of(client: MlflowClient, run: RunRecord) -> Run:
    """The MLflow run with this uid; made where there is none."""
    experiment = client.get_experiment_by_name(run.group)
    id = experiment.experiment_id if experiment else client.create_experiment(run.group)
    found = client.search_runs([id], f"tags.`{UID}` = '{run.uid}'", max_results=1)
    return found[0] if found else client.create_run(id, run_name=run.name, tags={UID: run.uid})


def _settings(run: RunRecord) -> Iterator[tuple[str, Any]]:
    yield from (("agent", run.agent.name), ("agent version", run.agent.version), ("competition", run.competition))
    yield from (("edition", run.edition), ("data_kind", run.data_kind), ("seed", run.seed))
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
