"""What competition.toml says about a competition, as values. Reading it imports no plugin."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from attrs import field, frozen

from mlecore.errors import DataError, PluginError
from mlecore.files import read_regular

_LIMIT = 256 * 1024  # bytes of a competition.toml
_DOTS = 300  # on one line: a key of n parts takes tomllib memory of n * n

Split = Literal["low", "medium", "high", "dev"]


@frozen(kw_only=True)
class Thresholds:
    """Scores at which medals begin, and the median of the human leaderboard, which must be beaten."""

    gold: float
    silver: float
    bronze: float
    median: float


@frozen(kw_only=True)
class GradingLimits:
    """What grading one submission may take."""

    seconds: float = 600.0
    memory_gb: float = 8.0


@frozen(kw_only=True)
class Waiver:
    """A rule of the conformance kit that this edition breaks by design."""

    rule: str
    why: str


@frozen(kw_only=True)
class Leak:
    """A known way in which public data give answers away."""

    file: str
    why: str
    column: str | None = None


@frozen(kw_only=True)
class Source:
    """Something that must be fetched besides Kaggle's archive."""

    url: str
    path: str  # in raw/
    sha256: str | None = None


@frozen(kw_only=True)
class Facts:
    """One competition's facts; those that do not apply are None or empty.

    ``answers`` and ``sample`` are relative to the prepared folder, such as "private/test.csv"; inside an archive,
    "public/x.csv.zip!x.csv".
    """

    id: str
    title: str
    modality: str
    task: str
    metric: str
    direction: Literal["maximize", "minimize"]
    answers: str
    sample: str
    submission: Mapping[str, Any]
    kaggle: str | None = None  # slug of the competition on Kaggle; None: its data come from the fetch hook
    split: Split | None = None
    size_gb: float | None = None
    gold_submission: str | None = None
    thresholds: Thresholds | None = None
    check_incomplete: str | None = None  # why the check cannot see all that grading refuses
    closed: str | None = None  # why it can no longer be joined on Kaggle, and how else to get its data
    limits: GradingLimits = GradingLimits()
    md5: Mapping[str, str] = field(factory=dict)  # "zip": the download; else relative to the prepared folder
    md5_informs: tuple[str, ...] = ()  # of those, which only inform
    expect: Mapping[str, Any] = field(factory=dict)  # of the real data: path -> { rows = 15725 } or { files = 3 }
    sources: tuple[Source, ...] = ()
    leaks: tuple[Leak, ...] = ()
    waive: tuple[Waiver, ...] = ()
    editions: Mapping[str, Mapping[str, Any]] = field(factory=dict)
    folder: Path = Path()  # where competition.toml lies, with description.md beside it

    @property
    def lower_is_better(self) -> bool:
        return self.direction == "minimize"

    def better(self, score: float, than: float) -> bool:
        """Strictly better; NaN never is."""
        return score < than if self.lower_is_better else score > than

    def reaches(self, score: float, threshold: float) -> bool:
        """At the threshold or beyond; NaN never is."""
        return not math.isnan(score) and not self.better(threshold, score)

    @cached_property
    def description(self) -> str:
        """What the agent reads."""
        return (self.folder / "description.md").read_text(encoding="utf-8")


_NESTED: Mapping[str, type] = {"thresholds": Thresholds, "limits": GradingLimits}
_LISTS: Mapping[str, type] = {"sources": Source, "leaks": Leak, "waive": Waiver}


def read_facts(folder: Path) -> Facts:
    """Facts from ``folder``/competition.toml. Raises PluginError that says what is wrong in which file."""
    path = folder / "competition.toml"
    try:
        text = read_regular(path, _LIMIT).decode("utf-8")
        if any(line.count(".") > _DOTS for line in text.splitlines()):
            raise PluginError(f"{path}: it is nested too deep")
        values = tomllib.loads(text)
    except FileNotFoundError:
        raise PluginError(f"{path} is missing") from None
    except RecursionError:
        raise PluginError(f"{path}: it is nested too deep") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, DataError, OSError) as error:
        raise PluginError(f"{path}: {error}") from None
    try:
        for name, cls in _NESTED.items():
            if name in values:
                values[name] = cls(**values[name])
        for name, cls in _LISTS.items():
            values[name] = tuple(cls(**item) for item in values.get(name, ()))
        values["md5_informs"] = tuple(values.get("md5_informs", ()))
        facts = Facts(**values, folder=folder)
    except TypeError as error:  # a key missing or unknown; attrs names it
        raise PluginError(f"{path}: {str(error).replace('__init__() ', '')}") from None
    if facts.direction not in ("maximize", "minimize"):
        raise PluginError(f"{path}: direction must be maximize or minimize, not {facts.direction!r}")
    return facts
