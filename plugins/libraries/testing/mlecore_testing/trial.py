"""A competition with its data in a folder, for tests of its special cases."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from mlecore import competition
from mlecore.errors import DataError, InvalidSubmission, MlecoreError
from mlecore_testing.shared_data import SharedData
from mlecore_testing.trees import writable

if TYPE_CHECKING:
    from pandas import DataFrame

    Content: TypeAlias = DataFrame | str | bytes  # a table, or what is in a file


class Trial:
    """One competition, prepared from its synthetic data (or its practice data).

    Tests of a competition's package get theirs as the fixture ``trial``::

        def test_words_are_no_truth_values(trial, answers):
            trial.refuses(answers.assign(Transported="yes"), "yes")

        def test_ids_are_unique(trial):
            raw = trial.raw_copy()
            (raw / "train.csv").write_text("id,y\\n1,0\\n1,1\\n")
            trial.refuses_raw(raw, "repeated")

    The folders ``raw``, ``public`` and ``private`` may be shared with other tests (``shared``), so do not change them;
    what the trial writes is below ``folder``. The data are those of the kit's short form, unless ``size`` differs.
    """

    def __init__(
        self,
        id: str,
        folder: Path,
        *,
        seed: int = 0,
        size: float = 0.3,
        edition: str = "v1",
        shared: SharedData | None = None,
    ) -> None:
        self.competition = competition(id, edition)
        self.folder = folder
        shared = shared or SharedData(folder / "shared")
        self.raw = shared.raw(self.competition, seed, size)
        self.prepared = shared.prepared(self.competition, seed, size)
        self.public, self.private = self.prepared / "public", self.prepared / "private"

    def raw_copy(self) -> Path:
        """A new copy of the raw data, to be changed."""
        copy = Path(shutil.copytree(self.raw, self._new() / "raw", copy_function=shutil.copyfile))
        writable(copy)
        return copy

    def prepare(self, raw: Path) -> tuple[Path, Path]:
        """The public and the private folder that other raw data become. Raises DataError."""
        folder = self._new()
        public, private = folder / "public", folder / "private"
        self.competition.prepare(raw, public, private)
        return public, private

    def refuses_raw(self, raw: Path, reason: str) -> None:
        """AssertionError unless preparing ``raw`` raises a DataError with words that match ``reason``."""
        __tracebackhide__ = True
        _expect(DataError, reason, lambda: f"{raw} was prepared: {self.prepare(raw)}")

    def check(self, submission: Content) -> list[str]:
        """The warnings about a table, or a file's content. Raises InvalidSubmission."""
        return self.competition.check(self._written(submission), self.public)

    def grade(self, submission: Content, truth: Content | None = None) -> float:
        """The score of a table, or of a file's content. Raises InvalidSubmission.

        ``check`` looks at it as well: AssertionError where it refuses what is graded, or passes what is rejected and
        competition.toml does not say that it may (``check_incomplete``). With ``truth`` the submission is graded
        against these answers instead, without ``check``, as their sample is not there.
        """
        if truth is not None:
            private = self._new()
            self._write(truth, private / Path(self.competition.facts.answers).name)
            return self.competition.grade(self._written(submission), private)
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

    def refuses(self, submission: Content, reason: str, truth: Content | None = None) -> None:
        """AssertionError unless ``grade`` refuses the submission, with words that match ``reason``, as in re.search."""
        __tracebackhide__ = True  # pytest shows the line of the test, not the kit's code
        _expect(InvalidSubmission, reason, lambda: f"the submission scores {self.grade(submission, truth)}")

    def _new(self) -> Path:
        return Path(tempfile.mkdtemp(dir=self.folder))

    def _written(self, submission: Content) -> Path:
        return self._write(submission, self.folder / "submission.csv")

    def _write(self, table: Content, path: Path) -> Path:
        if not isinstance(table, str | bytes):
            table = table.to_csv(index=False)
        path.write_bytes(table.encode() if isinstance(table, str) else table)
        return path


def _expect(kind: type[MlecoreError], reason: str, act: Callable[[], str]) -> None:
    __tracebackhide__ = True
    try:
        found = act()
    except kind as error:
        found = str(error)
        if re.search(reason, found):
            return
    raise AssertionError(f"expected a refusal that matches {reason!r}, got: {found}")
