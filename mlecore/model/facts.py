"""What competition.toml says about a competition, as values. Reading it imports no plugin.

The classes below are the file's schema; `make docs` generates its page from them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from functools import cache, cached_property
from pathlib import Path
from typing import Literal

from attrs import evolve, field, frozen

from mlecore.errors import PluginError, UsageError
from mlecore.util.schema import NOT_IN_FILE, SchemaError, brief, read_toml, structure
from mlecore_toolkit.submissions.format import Format

_LIMIT = 256 * 1024  # bytes of a competition.toml
_SECTIONS = re.compile(r"^(?=## )", re.MULTILINE)
Description = Literal["description.md", "description_obfuscated.md"]
OBFUSCATED_DESCRIPTION: Description = "description_obfuscated.md"
"""Beside competition.toml: the task without a sign of which competition it is."""

Split = Literal["low", "medium", "high", "dev"]


@frozen(kw_only=True)
class Thresholds:
    """Scores at which medals begin, and the median of the human leaderboard, which must be beaten."""

    gold: float  # at or beyond it
    silver: float  # at or beyond it
    bronze: float  # at or beyond it
    median: float  # beyond it


@frozen(kw_only=True)
class Reference(Thresholds):
    """Scores of agents to compare with where no human leaderboard exists; `mlecore competitions calibrate` writes them.
    They are no medals."""

    agents: tuple[str, ...]  # whose scores they are, such as "baseline 0.1.0"
    seeds: int  # runs of each agent
    date: str  # of the last run, such as "2026-11-28"
    data: str  # digest of the public data: on any other data, these scores say nothing


@frozen(kw_only=True)
class GradingLimits:
    """Limits for grading one submission."""

    seconds: float = 600.0  # of wall-clock time
    memory_gb: float = 8.0  # 10^9 bytes


@frozen(kw_only=True)
class Waiver:
    """A rule of the conformance kit that this edition breaks by design."""

    rule: str  # its name
    why: str  # the reason


@frozen(kw_only=True)
class Leak:
    """A known way in which public data give answers away."""

    file: str  # relative to the prepared folder
    why: str  # how it gives answers away
    column: str | None = None  # of the file, where it is one
    signs: tuple[
        str, ...
    ] = ()  # names that only code which uses it has reason to name; none: honest code names them too
    score: float | None = None  # that its use alone gives on the real data, where that is known


@frozen(kw_only=True)
class KnownIssue:
    """A flaw of edition v1 that is kept, so that scores compare with those published."""

    what: str  # is wrong
    effect: str  # on scores
    fix: str | None = None  # what a fixed edition should change; left out where nothing can or need be done
    mended: str | None = None  # the edition without this flaw


@frozen(kw_only=True)
class Source:
    """Something that must be fetched besides Kaggle's archive."""

    url: str  # https
    path: str  # in raw/
    sha256: str | None = None  # of the file


@frozen(kw_only=True)
class Passage:
    """A passage that an edition replaces, wherever it is in description.md and in description_obfuscated.md."""

    old: str  # as it is in both, if the package has both
    new: str  # what is there instead
    only: Description | None = None  # the one that has it, if the other does not


@frozen(kw_only=True)
class Obfuscated:
    """What the obfuscated description must not say, and how it differs from description.md.

    A section of description_obfuscated.md that is a mere heading is that of description.md with ``replace``.
    """

    words: tuple[str, ...] = ()  # that give it away, beside those of id and title: hosts, places, ...
    replace: Mapping[str, str] = field(factory=dict)  # passages of these sections, and what stands there instead


Comparability = Literal["same", "near", "none"]
"""Does a medal in an edition mean what it means in v1? ``same``: the human scores compare at least as well. ``near``:
the split was regrouped or inputs came back; medals are shown, marked. ``none``: there are no medals."""


@frozen(kw_only=True)
class Edition:
    """What is different in an edition other than v1; its hooks that differ are in a module of its name (``v2.py``)."""

    changes: str  # what differs from v1, in words
    thresholds: Comparability = "same"  # do v1's thresholds hold? same, near, or none: no medals
    submission: Format | None = None  # default: v1's, made strict: each id once, no missing or infinite numbers
    metric: str | None = None  # instead of v1's
    answers: str | None = None  # instead of v1's
    sample: str | None = None  # instead of v1's
    test_part: str | None = None  # instead of v1's, where the split differs
    leaks: tuple[Leak, ...] = ()  # those that remain
    waive: tuple[Waiver, ...] = ()  # rules of the conformance kit that this edition breaks by design
    description: tuple[Passage, ...] = ()  # what differs in the descriptions


@frozen(kw_only=True)
class Facts:
    """One competition's facts.

    ``answers`` and ``sample`` are relative to the prepared folder, such as "private/test.csv"; inside an archive (zip,
    7z), "public/x.csv.zip!x.csv".
    """

    id: str  # as Kaggle spells it, and as the entry point is named
    title: str  # in full
    modality: str  # audio, graph, image, multimodal, tabular, text, time-series or video
    task: str  # what is to be predicted, in a few words
    metric: str  # its name
    direction: Literal["maximize", "minimize"]  # of the metric
    answers: str  # the file of the answers, such as "private/test.csv"
    sample: str  # the sample submission, such as "public/sample_submission.csv" or "public/x.csv.zip!x.csv"
    submission: Format  # what a submission looks like
    test_part: str | None = None  # how the test part was drawn, and how it relates to Kaggle's
    group: str | None = None  # the column whose equal values belong to one part of the split, such as "patient_id"
    kaggle: str | None = None  # slug of the competition on Kaggle; without it the data come from the fetch hook
    split: Split | None = None  # of the benchmark
    splits: tuple[str, ...] = ()  # others that it belongs to, such as "my-lab": sets of competitions to run and report
    size_gb: float | None = None  # of the download, in 10^9 bytes
    gold_submission: str | None = None  # a perfect submission that the published benchmark prepares
    thresholds: Thresholds | None = None  # without them: from leaderboard.csv beside this file, or no medals
    reference: Reference | None = None  # scores of agents, where there are neither thresholds nor a leaderboard
    check_incomplete: str | None = None  # why the check cannot see all that grading refuses
    external_data: str | None = None  # the rule on data from elsewhere; default: that of the instructions
    closed: str | None = None  # why it can no longer be joined on Kaggle, and how else to get its data
    limits: GradingLimits = GradingLimits()  # of grading
    md5: Mapping[str, str] = field(factory=dict)  # "zip": the download; else relative to the prepared folder
    md5_informs: tuple[str, ...] = ()  # paths of md5 that only inform: a difference is not an error
    # counts that hold for the real data, by path: { rows = 15725 } or { files = 3 }
    expect: Mapping[str, Mapping[Literal["rows", "files"], int]] = field(factory=dict)
    sources: tuple[Source, ...] = ()  # what must be fetched besides Kaggle's archive
    leaks: tuple[Leak, ...] = ()  # known ones
    known_issues: tuple[KnownIssue, ...] = ()  # `make docs` makes a page of all
    waive: tuple[Waiver, ...] = ()  # rules of the conformance kit that this competition breaks by design
    obfuscated: Obfuscated = Obfuscated()  # of description_obfuscated.md
    editions: Mapping[str, Edition] = field(factory=dict)  # other editions than v1, by name
    folder: Path = field(default=Path(), metadata=NOT_IN_FILE)  # where competition.toml lies
    edition: str = field(default="v1", metadata=NOT_IN_FILE)  # whose facts these are

    @property
    def lower_is_better(self) -> bool:
        return self.direction == "minimize"

    def better(self, score: float, than: float) -> bool:
        """Strictly better; NaN never is."""
        return score < than if self.lower_is_better else score > than

    def reaches(self, score: float, threshold: float) -> bool:
        """At the threshold or beyond; NaN never is."""
        return not math.isnan(score) and not self.better(threshold, score)

    @property
    def comparability(self) -> Comparability:
        """What a medal means in this edition, compared with v1."""
        return self.editions[self.edition].thresholds if self.edition in self.editions else "same"

    def in_edition(self, name: str) -> Facts:
        """The facts of an edition, from those of v1. Raises UsageError for an unknown one.

        The only published checksum that holds in other editions is the download's.
        """
        if name == "v1":
            return self
        if name not in self.editions:
            known = ", ".join(["v1", *self.editions])
            raise UsageError(f"{self.id} has no edition {name!r}; available: {known}")
        edition = self.editions[name]
        return evolve(
            self,
            edition=name,
            submission=edition.submission or self.submission.strict(),
            metric=edition.metric or self.metric,
            answers=edition.answers or self.answers,
            sample=edition.sample or self.sample,
            test_part=edition.test_part or self.test_part,
            gold_submission=None,
            check_incomplete=None,
            md5={path: md5 for path, md5 in self.md5.items() if path == "zip"},
            md5_informs=(),
            expect={},
            leaks=edition.leaks,
            known_issues=tuple(issue for issue in self.known_issues if issue.mended != name),
            waive=edition.waive,
        )

    @cached_property
    def description(self) -> str:
        """What the agent reads. Raises PluginError if a passage that the edition replaces is not there."""
        return self._described("description.md")

    @cached_property
    def obfuscated_description(self) -> str:
        """What the agent reads instead if it is not to know which competition this is.

        Raises UsageError if the package has none, PluginError if a passage that the edition replaces is not there.
        """
        try:
            return self._described(OBFUSCATED_DESCRIPTION)
        except FileNotFoundError:
            raise UsageError(
                f"{self.id} has no {OBFUSCATED_DESCRIPTION} in its package, so it cannot be obfuscated",
                fix="Write one (docs/contamination.md), or leave the competition out.",
            ) from None

    def _described(self, name: Description) -> str:
        text = (self.folder / name).read_text(encoding="utf-8")
        if name == OBFUSCATED_DESCRIPTION:
            text = self._with_sections(text)
        edition = self.editions.get(self.edition)
        for passage in edition.description if edition else ():
            if passage.only not in (None, name):
                continue
            if passage.old not in text:
                raise PluginError(
                    f"{self.folder / name} lacks what edition {self.edition} replaces: {brief(passage.old)}"
                )
            text = text.replace(passage.old, passage.new)
        return text

    def _with_sections(self, text: str) -> str:
        described = (self.folder / "description.md").read_text(encoding="utf-8")
        for old, new in self.obfuscated.replace.items():
            if old not in described:
                where = self.folder / "description.md"
                raise PluginError(f"{where} lacks what [obfuscated.replace] replaces: {brief(old)}")
            described = described.replace(old, new)
        own = {part.partition("\n")[0]: part for part in _SECTIONS.split(described)}
        parts = (part.strip() for part in _SECTIONS.split(text))
        return "\n\n".join(own.get(part, part).strip() for part in parts) + "\n"


@cache  # a listing examines a competition, and then shows it
def read_facts(folder: Path) -> Facts:
    """Facts from ``folder``/competition.toml. Raises PluginError that says what is wrong in which file."""
    path = folder / "competition.toml"
    try:
        values = read_toml(path, _LIMIT)
    except FileNotFoundError:
        raise PluginError(f"{path} is missing") from None
    except OSError as error:
        raise PluginError(f"{path} cannot be read: {error}") from None
    except SchemaError as error:
        raise PluginError(error.message) from None
    try:
        return evolve(structure(Facts, values), folder=folder)
    except SchemaError as error:
        raise PluginError(f"{path}: {error.message}") from None
