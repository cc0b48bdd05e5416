"""What ``mlecore.competition`` returns: a competition with everything that a notebook does with one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from attrs import evolve

from mlecore import competitions, validation
from mlecore.data.layout import DataDirs
from mlecore.data.opening import open_prepared
from mlecore.data.prepared import Prepared
from mlecore.errors import UsageError
from mlecore.grading import scoring
from mlecore.grading.isolated import IsolatedGrader
from mlecore.grading.report import Report, grade
from mlecore.submissions.frames import Submission, as_file
from mlecore.submissions.table import HEAVY


class Competition(competitions.Competition):
    """One competition in one edition. Its plugin is imported when a method first needs it; ``facts`` never does."""

    def data(self, dirs: str | Path | Sequence[str | Path] = (), *, synthetic: bool = False) -> Prepared:
        """The prepared data, found in ``dirs`` or in the data directories that `mlecore prepare` uses.

        Raises NotPrepared with the command to run.
        """
        found = DataDirs.of(validation.paths(dirs, "a data directory"))
        return open_prepared(self, found, synthetic=synthetic, verified=False)

    def check(self, submission: Submission, public: Path | str) -> list[str]:
        """Warnings about a submission (a file, or a data frame) that is well-formed.

        Needs no answers; sound: what it rejects, ``grade`` rejects too. Raises InvalidSubmission for one that is not.
        Files of 8 MiB or more are checked in a separate process, under the competition's limits for grading: reaching
        one raises GradingError.
        """
        public = validation.path(public, "the public data")
        with as_file(submission) as path:
            if not path.is_file() or path.stat().st_size < HEAVY:  # the guard bounds what a smaller one may take
                return scoring.check(self, path, public)
            with IsolatedGrader() as grader:
                return grader.check(self, path, public)

    def grade(self, submission: Submission, private: Path | str, public: Path | str | None = None) -> float:
        """The score of a file or a data frame, unrounded; NaN and infinities where the competition allows them.

        Works on any prepared folders, mlecore's or MLE-bench's. ``public``, by default the folder of that name beside
        ``private``, only limits the file's size, to ten times that of the sample submission (without one: of the
        answers). Raises InvalidSubmission with the reason, and GradingError for what is not the submission's fault.
        """
        with as_file(submission) as path:
            return scoring.score(
                self,
                path,
                validation.path(private, "the folder of the answers"),
                None if public is None else validation.path(public, "the public data"),
            )

    def report(self, submission: Submission | None, data: Prepared) -> Report:
        """Grade and place on the human leaderboard; an invalid or missing submission makes a report that says so.

        Raises GradingError for what is not the submission's fault.
        """
        if not isinstance(data, Prepared):
            raise UsageError(f"data is what {self.id}'s data() returns, not {type(data).__name__}")
        if submission is None:
            return grade(self, None, data)
        with as_file(submission) as path:
            report = grade(self, path, data)
        return report if isinstance(submission, (str, Path)) else evolve(report, submission_path="")


def competition(id: str, edition: str = "v1") -> Competition:
    """The installed competition of this id. Raises UsageError if it is not installed, with what to install."""
    found = competitions.competition(id, edition)
    return Competition(found.plugin, found.edition)
