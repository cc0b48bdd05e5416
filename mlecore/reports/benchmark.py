"""The 75 competitions of MLE-bench and what reports sort them by, known without their plugins.

Reports are read on machines where no competition is installed; a rate over a split still needs to know all of it.

benchmark.csv: split, modality, task and size are those of each competition's facts, which give a size for Low only.
``year_from`` says where the year is from: "name", the competition's own, or "memory", general knowledge without source.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

from attrs import frozen

SPLITS = ("low", "medium", "high")


@frozen(kw_only=True)
class Listed:
    """What reports know of a competition. ``year`` is when it closed on Kaggle; ``size_gb`` that of its download."""

    id: str
    split: str | None = None
    modality: str | None = None
    task: str | None = None
    size_gb: float | None = None
    year: int | None = None
    year_from: str | None = None  # "name" or "memory"


@cache
def _benchmark() -> dict[str, Listed]:
    with (files("mlecore.reports") / "benchmark.csv").open(encoding="utf-8") as lines:
        return {
            row["id"]: Listed(
                id=row["id"],
                split=row["split"],
                modality=row["modality"],
                task=row["task"],
                size_gb=float(row["size_gb"]) if row["size_gb"] else None,
                year=int(row["year"]),
                year_from=row["year_from"],
            )
            for row in csv.DictReader(lines)
        }


def split_ids(split: str) -> tuple[str, ...]:
    """Ids of "low", "medium", "high" or "all": 22, 38, 15 and 75."""
    return tuple(listed.id for listed in _benchmark().values() if split in ("all", listed.split))


@cache
def listed(competition: str) -> Listed:
    """What is known of a competition: from the benchmark's table, else from its plugin if that is installed."""
    if known := _benchmark().get(competition):
        return known
    from mlecore.competitions import competition as installed
    from mlecore.errors import MlecoreError

    try:
        facts = installed(competition).facts
    except MlecoreError:
        return Listed(id=competition)
    return Listed(id=competition, split=facts.split, modality=facts.modality, task=facts.task, size_gb=facts.size_gb)


def slice_sources() -> str:
    """Where the years and sizes of the benchmark's competitions are from."""
    known = _benchmark().values()
    named = sum(each.year_from == "name" for each in known)
    sized = sum(each.size_gb is not None for each in known)
    return (
        f"Of the benchmark's competitions, {named} have their year in their name; the years of the other "
        f"{len(known) - named} are general knowledge without a source. Sizes are known for {sized}."
    )


def task_family(task: str | None) -> str | None:
    """The kind of problem in one word, for slices: a fact sheet's own words are too many to compare by."""
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


def size_class(size_gb: float | None) -> str | None:
    """Of the download, in powers of ten."""
    if size_gb is None:
        return None
    for limit, name in ((0.1, "less than 0.1 GB"), (1, "0.1 to 1 GB"), (10, "1 to 10 GB"), (100, "10 to 100 GB")):
        if size_gb < limit:
            return name
    return "100 GB or more"
