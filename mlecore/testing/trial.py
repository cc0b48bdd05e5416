"""A competition with its data in a folder, for tests of its special cases."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mlecore.competitions import competition
from mlecore.errors import InvalidSubmission

if TYPE_CHECKING:
    from pandas import DataFrame


class Trial:
    """One competition, prepared from its synthetic data (or its practice data) below ``folder``.

    Tests of a competition's package get theirs as the fixture ``trial``::

        def test_words_are_no_truth_values(trial, answers):
            with pytest.raises(InvalidSubmission, match="yes"):
                trial.grade(answers.assign(Transported="yes"))

    ``raw``, ``public`` and ``private`` are folders in ``folder``; ``competition`` is what prepares other raw data.
    """

    def __init__(self, id: str, folder: Path, *, seed: int = 0, size: float = 1.0, edition: str = "v1") -> None:
        self.competition = competition(id, edition)
        self.folder = folder
        self.raw, self.public, self.private = folder / "raw", folder / "public", folder / "private"
        if self.competition.loaded.implements("make_raw"):
            self.competition.make_raw(self.raw, seed=seed, size=size)
        else:
            self.competition.fetch(self.raw)
        self.competition.prepare(self.raw, self.public, self.private)

    def check(self, submission: DataFrame | str | bytes) -> list[str]:
        """The warnings about a table, or a file's content. Raises InvalidSubmission."""
        return self.competition.check(self._written(submission), self.public)

    def grade(self, submission: DataFrame | str | bytes) -> float:
        """The score of a table, or of a file's content. Raises InvalidSubmission.

        ``check`` looks at it as well: AssertionError where it refuses what is graded, or passes what is refused and
        competition.toml does not say that it may (``check_incomplete``).
        """
        try:
            self.check(submission)
            refused = ""
        except InvalidSubmission as reason:
            refused = str(reason)
        try:
            score = self.competition.grade(self._written(submission), self.private, self.public)
        except InvalidSubmission as reason:
            assert refused or self.competition.facts.check_incomplete, f"check passes what grade refuses: {reason}"
            raise
        assert not refused, f"check refuses what grade scores {score}: {refused}"
        return score

    def _written(self, submission: DataFrame | str | bytes) -> Path:
        path = self.folder / "submission.csv"
        if not isinstance(submission, str | bytes):
            submission = submission.to_csv(index=False)
        path.write_bytes(submission.encode() if isinstance(submission, str) else submission)
        return path
