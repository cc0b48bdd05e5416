"""The 82 competitions of MLE-bench (75 and its split dev) and the facts that reports need, without their plugins.

Reports are read on machines where no competition is installed; a rate over a split still needs to know all of it.
benchmark.csv repeats facts of each competition.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from attrs import frozen

if TYPE_CHECKING:
    from mlecore.model.facts import Facts

SPLITS = ("low", "medium", "high")


@frozen(kw_only=True)
class Listed:
    """What reports know about a competition; None if it is neither in the benchmark nor installed."""

    id: str
    split: str | None = None
    modality: str | None = None
    task: str | None = None
    metric: str | None = None
    incomparable: str = ""  # editions that its human leaderboard does not compare with, separated by blanks


@cache
def _benchmark() -> dict[str, Listed]:
    with (files("mle_ext_report") / "benchmark.csv").open(encoding="utf-8") as lines:
        return {row["id"]: Listed(**row) for row in csv.DictReader(lines)}


def split_ids(split: str) -> tuple[str, ...]:
    """Ids of a split: "low" (or "lite"), "medium", "high", "all", "dev" and "mle-bench-30" have 22, 38, 15, 75, 7
    and 30, installed or not.

    For a split that competitions name themselves: the installed ones. Empty for any other word.
    """
    from mlecore.plugins.competitions import working
    from mlecore.plugins.splits import benchmark

    if parts := benchmark().get(split):
        return tuple(listed.id for listed in _benchmark().values() if listed.split in parts or listed.id in parts)
    return tuple(plugin.name for plugin in working() if plugin.facts and split in plugin.facts.splits)


def further_splits() -> list[str]:
    """Splits that have a rate beside those of MLE-bench's paper, none twice under two names."""
    from mlecore.plugins.competitions import split_names

    return [name for name in split_names() if name not in (*SPLITS, "lite", "all", "dev", "systemcard")]


@cache
def listed(competition: str) -> Listed:
    """What is known about a competition: from the benchmark's table, else from its plugin if that is installed."""
    if known := _benchmark().get(competition):
        return known
    if (facts := edition_facts(competition)) is None:
        return Listed(id=competition)
    humans = facts.thresholds or (facts.folder / "leaderboard.csv").is_file()
    without = [name for name, edition in facts.editions.items() if edition.thresholds == "none"]
    return Listed(
        id=competition,
        split=next(filter(None, (facts.split, *facts.splits)), None),
        modality=facts.modality,
        task=facts.task,
        metric=facts.metric,
        incomparable=" ".join(without if humans else ["v1", *facts.editions]),
    )


@cache
def edition_facts(competition: str, edition: str = "v1") -> Facts | None:
    """Facts of an installed competition; None if it is not installed or has no such edition."""
    from mlecore.errors import MlecoreError
    from mlecore.plugins.competitions import competition as installed

    try:
        return installed(competition, edition).facts
    except MlecoreError:
        return None


def comparable(competition: str, edition: str) -> bool:
    """Does its human leaderboard compare with this edition? Where it does not, there are no medals."""
    return edition not in listed(competition).incomparable.split()


def task_family(task: str | None) -> str | None:
    """The kind of problem in one word, for slices: fact sheets describe tasks in too many different words."""
    if task is None:
        return None
    words = task.lower()
    return next((family for family, marks in _FAMILIES if any(mark in words for mark in marks)), "other")


_FAMILIES: Sequence[tuple[str, tuple[str, ...]]] = (
    ("segmentation", ("segmentation",)),
    ("detection", ("detection",)),
    ("regression", ("regression", "positioning")),
    ("classification", ("classification", "tagging")),
    ("text generation", ("normali", "sequence to sequence", "to text", "missing from")),
    ("extraction", ("span", "question answering")),
)
