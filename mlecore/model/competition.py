"""A competition: its facts, and its hooks with what must hold before and after each call."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from mlecore.errors import DataError, GradingError, PluginError, UsageError
from mlecore.model.plugin import Plugin
from mlecore.model.sample import open_sample
from mlecore.util import validation

if TYPE_CHECKING:
    from pandas import DataFrame

    from mlecore.model.facts import Facts
    from mlecore_toolkit import Format, Table
    from mlecore_toolkit.submissions.frames import Submission


class Hooks(Protocol):
    """A plugin's hooks, imported."""

    def implements(self, hook: str) -> bool: ...

    def call(self, hook: str, **arguments: object) -> Any:
        """Call a hook, and check the type of its result. Raises PluginError."""


class Competition:
    """One competition in one edition. Its plugin is imported when a method first needs it; ``facts`` never does."""

    def __init__(
        self,
        plugin: Plugin,
        edition: str = "v1",
        facts: Facts | None = None,
        *,
        load: Callable[[str, str, str, Plugin], Hooks],
    ) -> None:
        """``facts``: of v1; default: those in the plugin's folder, which are read when they are first needed.

        ``load`` imports a plugin, by kind, name and edition: `mlecore.plugins.loading.load`.
        """
        self.plugin = plugin
        self.edition = edition
        self._load = load
        if facts is not None:
            self.facts = facts.in_edition(edition)

    def __repr__(self) -> str:
        return f"<Competition {self.id} {self.edition}, {self.plugin.distribution} {self.plugin.version}>"

    @property
    def id(self) -> str:
        return self.plugin.name

    @cached_property
    def facts(self) -> Facts:
        """What its competition.toml says, in its edition."""
        from mlecore.model.facts import read_facts

        assert self.plugin.origin is not None
        return read_facts(self.plugin.origin.parent).in_edition(self.edition)

    @property
    def loaded(self) -> Hooks:
        """Its plugin, imported."""
        return self._load("competition", self.id, self.edition, self.plugin)

    @property
    def format(self) -> Format:
        """What a submission looks like: the ``[submission]`` table of the edition."""
        return self.facts.submission

    @property
    def own_rules(self) -> bool:
        """Does the plugin check more of a submission than ``format`` says?"""
        return self.loaded.implements("examine") or self.loaded.implements("asked")

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
            if self.facts.kaggle is None:
                raise UsageError(
                    f"{self.id} has real data neither on Kaggle nor in its package (hook fetch)",
                    fix=f"Name your own: mlecore prepare {self.id} --raw DIR, or --archive FILE",
                )
            raise UsageError(f"the data of {self.id} come from Kaggle: mlecore prepare {self.id}")
        self.loaded.call("fetch", raw=_folder(raw))

    def prepare(self, raw: Path, public: Path, private: Path) -> None:
        """Make ``public`` (with description.md) and ``private`` from an unpacked download."""
        self.loaded.call(
            "prepare", raw=_there(raw), public=_folder(public), private=_folder(private), edition=self.edition
        )
        (Path(public) / "description.md").write_bytes(self.facts.description.encode())

    def check(self, submission: Submission, public: Path | str) -> list[str]:
        """Warnings about a well-formed submission, a file or a data frame. Needs no answers.

        Sound: ``grade`` rejects what this rejects. Raises InvalidSubmission for one that is not well-formed, DataError,
        PluginError.
        """
        from mlecore_toolkit import Table
        from mlecore_toolkit.submissions.check import unknown_labels
        from mlecore_toolkit.submissions.frames import as_file
        from mlecore_toolkit.submissions.guard import guard
        from mlecore_toolkit.submissions.shape import explaining

        public = validation.path(public, "the public data")
        with as_file(submission) as path, open_sample(self.facts, public) as sample_path:
            guard(path, sample_path)
            table, sample = Table(path), Table(sample_path)
            with explaining(path):
                warnings = self._examined(table, sample, public)
            others = sorted(set(public.glob("*.csv")) - {public.parent / self.facts.sample})
            return [*warnings, *unknown_labels(self.format, table, sample, others)]

    def _examined(self, submission: Table, sample: Table, public: Path) -> list[str]:
        """Warnings of the ``[submission]`` table and the hook ``examine``. Raises InvalidSubmission."""
        from mlecore_toolkit.submissions.check import read_sample, warnings

        asked = read_sample(self.format, sample)
        if self.loaded.implements("asked"):
            asked = self.loaded.call("asked", sample=asked, public=public)
        asked, predictions = self.format.read(submission, asked)
        found = warnings(self.format, submission, sample)
        if self.loaded.implements("examine"):
            arguments = {"predictions": predictions, "asked": asked, "submission": submission, "folder": public}
            found += self.loaded.call("examine", **arguments, format=self.format) or ()
        return found

    def grade(self, submission: Submission, private: Path | str, public: Path | str | None = None) -> float:
        """The score of a file or a data frame, unrounded; NaN and infinities where the competition allows them.

        Works on any prepared folders, mlecore's or MLE-bench's. ``public``, by default the folder of that name beside
        ``private``, only limits the file's size, to ten times that of the sample submission (without one: of the
        answers). Raises InvalidSubmission with the reason, and GradingError for what is not the submission's fault.
        """
        from mlecore_toolkit import Table
        from mlecore_toolkit.submissions.frames import as_file
        from mlecore_toolkit.submissions.guard import guard
        from mlecore_toolkit.submissions.shape import explaining

        private = validation.path(private, "the folder of the answers")
        public = private.parent / "public" if public is None else validation.path(public, "the public data")
        if not private.is_dir() or not any(private.iterdir()):  # `mlecore data pull` copies the public part only
            raise GradingError(f"the answers of {self.id} are missing: {private} is empty, or not a folder")
        with as_file(submission) as path:
            with self._sample_or_answers(private, public) as usual:
                guard(path, usual)
            arguments = {"submission": Table(path), "private": private, "edition": self.edition, "format": self.format}
            try:
                with explaining(path):
                    found = self.loaded.call("grade", **arguments)
            except PluginError as error:
                raise GradingError(error.message, fix=error.fix) from error
        try:
            return float(found)
        except (TypeError, ValueError):
            raise GradingError(f"the grade hook of {self.id} returned {found!r}, which is not a number") from None

    @contextmanager
    def _sample_or_answers(self, private: Path, public: Path) -> Iterator[Path | None]:
        """A file about as large as a submission: the sample, else the answers, else none."""
        answers = private / Path(self.facts.answers).relative_to("private")
        with ExitStack() as stack:
            usual = answers if answers.is_file() else None
            with suppress(DataError):
                usual = stack.enter_context(open_sample(self.facts, public))
            yield usual

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
    folder = validation.path(folder, "a folder")
    if not folder.is_dir():
        raise DataError(f"there is no folder {folder}")
    return folder


def _folder(path: Path) -> Path:
    path = validation.path(path, "a folder")
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"the folder {path} cannot be created: {error.strerror}") from error
    return path
