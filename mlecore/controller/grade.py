"""Grading a run's submission: once, against the data that it was made for. Can be repeated."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from attrs import evolve

from mlecore.controller.collect import why_no_submission
from mlecore.controller.context import Context
from mlecore.errors import DataError, GradingError, MlecoreError, NotPrepared, redacted
from mlecore.model.record import RunRecord
from mlecore.runs.journal import now
from mlecore.runs.same_data import require_same_data
from mlecore.runs.store import require_group
from mlecore.util import files
from mlecore.util.schema import SchemaError

if TYPE_CHECKING:
    from mlecore.controller.experiment import Experiment
    from mlecore.data.prepared import Prepared
    from mlecore.model.report import Report


def grade(context: Context, record: RunRecord) -> tuple[RunRecord, Report]:
    """From collected to graded: an existing grade.json is kept unless it cannot be read. Blocks; for any thread.

    GradingError is noted in the folder.
    """
    require_group(context.group)
    context.experiment.inputs_of(record.competition)
    path, gradings = record.folder / "grade.json", max(1, record.gradings)
    try:
        report = _existing_report(record)
        if report is None:
            report = _new_report(context.experiment, record)
            files.publish(path, (json.dumps(report.to_json(), indent=1, allow_nan=False) + "\n").encode())
            gradings = record.gradings + 1
    except OSError:
        raise
    except Exception as error:
        words = {"at": now(), "error": redacted(str(error)), "type": type(error).__name__}
        files.replace(record.folder / "grade_error.json", (json.dumps(words, indent=1) + "\n").encode())
        if isinstance(error, MlecoreError):
            raise
        raise GradingError(f"{type(error).__name__}: {error}") from error
    files.remove(record.folder / "grade_error.json")
    files.remove(files.temporary(path))  # from a controller that was killed while publishing the report
    record = evolve(record, state="graded", gradings=gradings)
    context.records.write(record, status=report.status)
    context.extensions.put("run_graded", record, report=report)
    return record, report


def own_report(record: RunRecord) -> Report:
    """The run's grade.json. Raises GradingError if it is damaged, FileNotFoundError."""
    from mlecore.model.report import read_report

    try:
        return read_report(record.folder / "grade.json", below=record.folder.parent)
    except SchemaError as error:
        raise GradingError(error.message, fix="Resuming the group grades the run again.") from None


def _existing_report(record: RunRecord) -> Report | None:
    """A damaged one is kept under another name, for a person to look at."""
    try:
        return own_report(record)
    except FileNotFoundError:
        return None
    except GradingError:
        damaged = record.folder / "grade.damaged.json"
        files.remove(damaged)
        files.rename(record.folder / "grade.json", damaged)
        return None


def _new_report(experiment: Experiment, record: RunRecord) -> Report:
    submission, any_plugin = record.submission, experiment.with_installed
    data = _same_data(experiment, record)
    target = experiment.inputs_of(record.competition).competition
    report = experiment.grader.grade(target, submission, data, None if any_plugin else record.grader)
    _same_data(experiment, record)  # nor were they replaced in the meantime
    where = submission.relative_to(record.folder).as_posix() if submission else ""
    report = evolve(report, run=record.uid, submission_path=where)
    if any_plugin and record.grader and report.plugin_source != record.grader.source:
        report = evolve(report, began_with=str(record.grader))
    if submission is None and (refused := why_no_submission(record)):
        report = evolve(report, reason=refused)
    return report


def _same_data(experiment: Experiment, record: RunRecord) -> Prepared:
    """The data as they lie on disk now. Raises GradingError if they are missing, or not those of the run."""
    try:
        data = experiment.inputs_of(record.competition).reopen()
        require_same_data(record, data)
    except (NotPrepared, DataError) as error:
        raise GradingError(error.message, fix=error.fix) from error
    return data
