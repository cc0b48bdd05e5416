"""What a notebook does with one competition: open its data, check and grade submissions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from attrs import evolve

from mlecore.data.layout import DataDirs
from mlecore.data.opening import open_prepared
from mlecore.data.prepared import Prepared
from mlecore.errors import UsageError
from mlecore.grading import report
from mlecore.grading.isolated import IsolatedGrader
from mlecore.model.competition import Competition
from mlecore.model.report import Report
from mlecore.util import validation
from mlecore_toolkit.submissions.frames import Submission, as_file
from mlecore_toolkit.submissions.table import HEAVY


def open_data(
    competition: Competition, dirs: str | Path | Sequence[str | Path] = (), *, synthetic: bool = False
) -> Prepared:
    """The prepared data, found in ``dirs`` or in the data directories that `mlecore prepare` uses.

    Raises NotPrepared with the command to run.
    """
    found = DataDirs.of(validation.paths(dirs, "a data directory"))
    return open_prepared(competition, found, synthetic=synthetic, verified=False)


def check(competition: Competition, submission: Submission, public: Path | str) -> list[str]:
    """``competition.check``, under the competition's limits for grading if the submission is large.

    Files of 8 MiB or more are checked in a separate process: reaching a limit raises GradingError.
    """
    with as_file(submission) as path:
        if not path.is_file() or path.stat().st_size < HEAVY:  # the guard bounds what a smaller one may take
            return competition.check(path, public)
        with IsolatedGrader() as grader:
            return grader.check(competition, path, validation.path(public, "the public data"))


def grade(competition: Competition, submission: Submission | None, data: Prepared) -> Report:
    """Score a submission and place it on the human leaderboard; an invalid or missing one makes a report that says so.

    Raises GradingError for what is not the submission's fault.
    """
    if not isinstance(data, Prepared):
        raise UsageError(f"data is what open_data({competition.id}) returns, not {type(data).__name__}")
    if submission is None:
        return report.grade(competition, None, data)
    with as_file(submission) as path:
        graded = report.grade(competition, path, data)
    return graded if isinstance(submission, (str, Path)) else evolve(graded, submission_path="")
