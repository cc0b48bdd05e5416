"""Grading a run's submission: once, against the data that it was made for. Can be repeated."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import evolve, frozen

from mlecore.controller import collect
from mlecore.controller.experiment import Experiment
from mlecore.controller.extensions import Extensions
from mlecore.controller.records import Records
from mlecore.errors import DataError, GradingError, MlecoreError, NotPrepared, redacted
from mlecore.model.record import RunRecord
from mlecore.runs.journal import now
from mlecore.runs.same_data import require_same_data
from mlecore.runs.store import require_group
from mlecore.util import files
from mlecore.util.schema import SchemaError

if TYPE_CHECKING:
    from mlecore.data.prepared import Prepared
    from mlecore.model.report import Report


@frozen(eq=False)
class Grading:
    """Takes runs from collected to graded. All methods block; for any thread."""

    _records: Records
    _experiment: Experiment
    _extensions: Extensions

    def grade(self, record: RunRecord) -> tuple[RunRecord, Report]:
        """From collected to graded, once: an existing grade.json is kept unless it cannot be read.

        GradingError is noted in the folder.
        """
        require_group(self._records.group)
        self._experiment.inputs_of(record.competition)
        path, gradings = record.folder / "grade.json", max(1, record.gradings)
        try:
            report = self._report_there(record)
            if report is None:
                report = self._publish_grade(record, path)
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
        self._records.write(record, status=report.status)
        self._extensions.graded(record, report)
        return record, report

    def without_report(self, record: RunRecord) -> str:
        """Why a graded run has to be graded again; empty if its grade.json is intact, or was never ours."""
        if record.imported_from:
            return ""
        try:
            read_own_report(record.folder / "grade.json")
        except FileNotFoundError:
            return "its grade.json is gone"
        except GradingError as error:
            return error.message
        return ""

    def _report_there(self, record: RunRecord) -> Report | None:
        """A damaged one is kept under another name, for a person to look at."""
        path = record.folder / "grade.json"
        try:
            return read_own_report(path)
        except FileNotFoundError:
            return None
        except GradingError:
            damaged = path.with_name("grade.damaged.json")
            files.remove(damaged)
            files.rename(path, damaged)
            return None

    def _publish_grade(self, record: RunRecord, path: Path) -> Report:
        submission, any_plugin = record.submission, self._experiment.with_installed
        data = self._same_data(record)
        target = self._experiment.inputs_of(record.competition).competition
        report = self._experiment.grader.grade(target, submission, data, None if any_plugin else record.grader)
        self._same_data(record)  # nor were they replaced in the meantime
        where = submission.relative_to(record.folder).as_posix() if submission else ""
        report = evolve(report, run=record.uid, submission_path=where)
        if any_plugin and record.grader and report.plugin_source != record.grader.source:
            report = evolve(report, began_with=str(record.grader))
        if submission is None and (refused := collect.why_no_submission(record)):
            report = evolve(report, reason=refused)
        files.publish(path, (json.dumps(report.to_json(), indent=1, allow_nan=False) + "\n").encode())
        return report

    def _same_data(self, record: RunRecord) -> Prepared:
        """The data as they lie on disk now. Raises GradingError if they are missing, or not those of the run."""
        try:
            data = self._experiment.inputs_of(record.competition).reopen()
            require_same_data(record, data)
        except (NotPrepared, DataError) as error:
            raise GradingError(error.message, fix=error.fix) from error
        return data

    def answers_are_there(self, record: RunRecord) -> bool:
        return self._experiment.inputs[record.competition].data.private.is_dir()


def read_own_report(path: Path) -> Report:
    from mlecore.model.report import read_report

    try:
        return read_report(path, below=path.parent.parent)
    except SchemaError as error:
        raise GradingError(error.message, fix="Resuming the group grades the run again.") from None
