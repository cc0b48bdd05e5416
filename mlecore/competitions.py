"""A competition as notebooks, other harnesses and the rest of mlecore use it: its facts, and its hooks, checked."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import evolve

from mlecore import given
from mlecore.errors import DataError, GradingError, PluginError, UsageError
from mlecore.facts import Facts, read_facts
from mlecore.registry.discovery import find, plugins
from mlecore.registry.plugin import Plugin

if TYPE_CHECKING:
    from pandas import DataFrame

    from mlecore.data.prepared import Prepared
    from mlecore.grading.report import Report
    from mlecore.registry.loading import Loaded
    from mlecore.submissions.format import Format
    from mlecore.submissions.frames import Submission


class Competition:
    """One competition in one edition. Its plugin is imported when a method first needs it; ``facts`` never does."""

    def __init__(self, facts: Facts, plugin: Plugin, edition: str = "v1") -> None:
        if edition != "v1" and edition not in facts.editions:
            known = ", ".join(["v1", *facts.editions])
            raise UsageError(f"{facts.id} has no edition {edition!r}; there are: {known}")
        self.facts = facts
        self.plugin = plugin
        self.edition = edition

    def __repr__(self) -> str:
        return f"<Competition {self.facts.id} {self.edition}, {self.plugin.distribution} {self.plugin.version}>"

    @property
    def id(self) -> str:
        return self.facts.id

    @property
    def loaded(self) -> Loaded:
        """Its plugin, imported."""
        from mlecore.registry.loading import load

        return load("competition", self.facts.id)

    @cached_property
    def format(self) -> Format:
        """What a submission looks like: the ``[submission]`` table, or that of the edition."""
        edition = self.facts.editions.get(self.edition)
        return (edition and edition.submission) or self.facts.submission

    def make_raw(self, raw: Path, seed: int = 0, size: float = 1.0) -> None:
        """Write synthetic data into ``raw``, in the form of the download. Raises UsageError if there are none."""
        if not self.loaded.implements("make_raw"):
            raise UsageError(
                f"{self.id} has no synthetic data, as its real data need no account", fix=f"mlecore prepare {self.id}"
            )
        raw = _folder(raw)
        self.loaded.call("make_raw", raw=raw, seed=seed, size=size)

    def fetch(self, raw: Path) -> None:
        """Fetch real data that is not Kaggle's into the folder ``raw``. Raises UsageError for Kaggle's competitions."""
        if not self.loaded.implements("fetch"):
            raise UsageError(f"the data of {self.id} come from Kaggle: mlecore prepare {self.id}")
        self.loaded.call("fetch", raw=_folder(raw))

    def prepare(self, raw: Path, public: Path, private: Path) -> None:
        """Make ``public`` (with description.md) and ``private`` from an unpacked download."""
        self.loaded.call(
            "prepare", raw=_there(raw), public=_folder(public), private=_folder(private), edition=self.edition
        )
        shutil.copyfile(self.facts.folder / "description.md", Path(public) / "description.md")

    def check(self, submission: Submission, public: Path | str) -> list[str]:
        """Warnings about a submission (a file, or a data frame) that is well-formed.

        Needs no answers; sound: what it refuses, ``grade`` refuses too. Raises InvalidSubmission for one that is not.
        Files from 8 MiB on are checked in a process of their own, under the competition's limits for grading: reaching
        one raises GradingError.
        """
        from mlecore.submissions.frames import as_file
        from mlecore.submissions.table import HEAVY

        public = given.path(public, "the public data")
        with as_file(submission) as path:
            if not path.is_file() or path.stat().st_size < HEAVY:  # the guard bounds what a smaller one may take
                return self.check_here(path, public)
            from mlecore.grading.isolated import IsolatedGrader

            with IsolatedGrader() as grader:
                return grader.check(self, path, public)

    def check_here(self, submission_csv: Path, public: Path) -> list[str]:
        """``check`` of a file in this process, without limits of time and memory."""
        from mlecore.submissions import generic_check
        from mlecore.submissions.guard import guard
        from mlecore.submissions.sample import open_sample
        from mlecore.submissions.table import Table

        with open_sample(self.facts, public) as sample_path:
            guard(submission_csv, sample_path)
            submission, sample = Table(submission_csv), Table(sample_path)
            if self.loaded.implements("check"):
                warnings = self.loaded.call(
                    "check",
                    submission=submission,
                    sample=sample,
                    public=public,
                    edition=self.edition,
                    format=self.format,
                )
                return list(warnings or ())
            return generic_check(self.format, submission, sample)

    def grade(self, submission: Submission, private: Path | str, public: Path | str | None = None) -> float:
        """The score of a file or a data frame, unrounded; NaN and infinities where the competition allows them.

        Works on any prepared folders, ours or MLE-bench's. ``public``, by default the folder of that name beside
        ``private``, only limits the file's size: ten times that of the sample there, or, if there is none, of the
        answers. Raises InvalidSubmission with the reason, and GradingError for what is not the submission's fault.
        """
        from mlecore.submissions.frames import as_file

        with as_file(submission) as path:
            return self._grade(
                path,
                given.path(private, "the folder of the answers"),
                None if public is None else given.path(public, "the public data"),
            )

    def _grade(self, submission_csv: Path, private: Path, public: Path | None) -> float:
        from mlecore.submissions.guard import guard
        from mlecore.submissions.table import Table

        if not private.is_dir() or not any(private.iterdir()):  # `mlecore data pull` copies the public part only
            raise GradingError(f"the answers of {self.id} are not there: {private} is empty, or not a folder")
        with self._sample_or_answers(private, public) as usual:
            guard(submission_csv, usual)
        try:
            score = self.loaded.call(
                "grade", submission=Table(submission_csv), private=private, edition=self.edition, format=self.format
            )
        except PluginError as error:
            raise GradingError(error.message, fix=error.fix) from error
        return _number(score, self)

    @contextmanager
    def _sample_or_answers(self, private: Path, public: Path | None) -> Iterator[Path | None]:
        """A file about as large as a submission: the sample, else the answers, else none."""
        from mlecore.submissions.sample import open_sample

        answers = private / Path(self.facts.answers).relative_to("private")
        with ExitStack() as stack:
            usual = answers if answers.is_file() else None
            with suppress(DataError):
                usual = stack.enter_context(open_sample(self.facts, public or private.parent / "public"))
            yield usual

    def data(self, dirs: str | Path | Sequence[str | Path] = (), *, synthetic: bool = False) -> Prepared:
        """The prepared data, found in ``dirs`` or in the data directories that `mlecore prepare` uses.

        Raises NotPrepared with the command to run.
        """
        from mlecore.data import DataDirs, open_prepared

        return open_prepared(
            self, DataDirs.of(given.paths(dirs, "a data directory")), synthetic=synthetic, verified=False
        )

    def report(self, submission: Submission | None, data: Prepared) -> Report:
        """Grade and place on the human leaderboard; an invalid or missing submission makes a report that says so.

        Raises GradingError for what is not the submission's fault.
        """
        from mlecore.data import Prepared
        from mlecore.grading.report import grade
        from mlecore.submissions.frames import as_file

        if not isinstance(data, Prepared):
            raise UsageError(f"data is what {self.id}'s data() returns, not {type(data).__name__}")
        if submission is None:
            return grade(self, None, data)
        with as_file(submission) as path:
            made = grade(self, path, data)
        return made if isinstance(submission, (str, Path)) else evolve(made, submission_path="")

    def perfect(self, private: Path) -> DataFrame:
        """The best possible submission: the plugin's, else the answers as a table."""
        import pandas as pd

        private = _there(private)
        if self.loaded.implements("perfect"):
            frame: DataFrame = self.loaded.call("perfect", private=private, edition=self.edition)
            return frame
        best = private / Path(self.facts.gold_submission or self.facts.answers).relative_to("private")
        try:
            return pd.read_csv(best, float_precision="round_trip")
        except OSError as error:
            raise DataError(f"the answers of {self.id} cannot be read: {error}") from None


def _there(folder: Path) -> Path:
    folder = given.path(folder, "a folder")
    if not folder.is_dir():
        raise DataError(f"there is no folder {folder}")
    return folder


def _folder(path: Path) -> Path:
    path = given.path(path, "a folder")
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"the folder {path} cannot be made: {error.strerror}") from error
    return path


def _number(score: Any, competition: Competition) -> float:
    try:
        return float(score)
    except (TypeError, ValueError):
        raise GradingError(f"the grade hook of {competition.id} returned {score!r}, which is not a number") from None


def competition(id: str, edition: str = "v1") -> Competition:
    """The installed competition of this id. Raises UsageError if it is not installed, with what to install."""
    id, edition = given.text(id, "a competition's id"), given.text(edition, "an edition")
    plugin = find("competition", id)
    if plugin is None or plugin.state != "ok":
        from mlecore.registry.loading import load

        plugin = load("competition", id).plugin  # raises, with the reason
    return _competition(plugin, edition)


def _competition(plugin: Plugin, edition: str = "v1") -> Competition:
    assert plugin.origin is not None
    return Competition(_facts(plugin.origin.parent), plugin, edition)


@cache
def _facts(folder: Path) -> Facts:
    return read_facts(folder)


def installed() -> list[Competition]:
    """Every competition that works, by id; imports none of them."""
    return [_competition(plugin) for plugin in plugins("competition") if plugin.state == "ok"]


SPLITS = ("low", "medium", "high", "dev")


def of_split(split: str) -> list[Competition]:
    """The installed competitions of a split; "lite" is another name for "low"."""
    split = "low" if split == "lite" else split
    if split not in SPLITS:
        raise UsageError(f"there is no split {split!r}; there are: lite, {', '.join(SPLITS)}")
    return [c for c in installed() if c.facts.split == split]
