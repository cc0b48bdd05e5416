"""Labels that stand in the names of training files (cat.7.jpg, clip_1.aif, rose/3.png) instead of a table."""

from __future__ import annotations

import re
from collections.abc import Iterable

import pandas as pd
from inventory import Inventory, Source
from media import Files, Index
from problem import NoModel, Problem
from submit import Sample

AFTER = re.compile(r"[._-]([01])$")
BEFORE = re.compile(r"^([A-Za-z]+)[._ -]?\d")


def understand(inventory: Inventory, sample: Sample, description: str) -> tuple[Problem, Files]:
    """The problem, and the files of its rows. Raises NoModel."""
    key, *asked = sample.columns
    everything = inventory.images + inventory.sounds
    index = Index(everything)
    test = index.column(sample.table[key], "test")
    if test is None or not asked:
        raise NoModel("no table to learn from, and the sample's rows name no files")
    used = {source.name for source in test if source}
    train = plain(source for source in everything if source.name not in used and "test" not in source.folder.lower())
    for labels in (folders(train), matched(train, AFTER), matched(train, BEFORE)):
        if labels is None:
            continue
        table = pd.DataFrame({key: [source.place for source in train]})
        rows = sample.table[[key]].copy()
        if len(asked) > 1 and set(labels) <= set(asked):
            return Problem(sample, table.assign(label=labels), rows, [key], ["label"], asked), (train, test)
        if len(asked) == 1:
            values = labels if sample.numbers(asked[0]) is None else ones(labels, description)
            if values is not None:
                return Problem(sample, table.assign(**{asked[0]: values}), rows, [key], asked), (train, test)
    raise NoModel("no table to learn from, and no labels in the names of files")


def plain(sources: Iterable[Source]) -> list[Source]:
    """Each file once: unpacked rather than in an archive."""
    found: dict[tuple[str, str], Source] = {}
    for source in sorted(sources, key=lambda s: (s.member is not None, s.place)):
        folder = source.folder.rpartition("/")[2].rpartition("!")[2].lower()
        found.setdefault((re.sub(r"\.zip$", "", folder), source.name), source)
    return list(found.values())


def folders(train: list[Source]) -> list[str] | None:
    return usable([source.folder.rpartition("/")[2] for source in train])


def matched(train: list[Source], pattern: re.Pattern[str]) -> list[str] | None:
    labels = []
    for source in train:
        match = pattern.search(source.stem)
        if not match:
            return None
        labels.append(match[1])
    return usable(labels)


def usable(labels: list[str]) -> list[str] | None:
    counts = pd.Series(labels).value_counts()
    return labels if 2 <= len(counts) <= 500 and counts.min() >= 2 else None


def ones(labels: list[str], description: str) -> list[int] | None:
    """1 for the label that the description calls 1, 0 for the other; None if it does not say."""
    kinds = sorted(set(labels))
    if kinds == ["0", "1"]:
        return [int(label) for label in labels]
    if len(kinds) != 2:
        return None
    text = description.lower()

    def says(kind: str, number: int) -> int:
        word = rf"\b{re.escape(kind.lower())}s?\b"
        found = re.findall(rf"\b{number}`?\s*(?:=|:|for|is|means)\s*(?:an?\s+)?`?{word}", text)
        found += re.findall(rf"{word}`?\s*(?:=|:|is)\s*`?{number}\b", text)
        return len(found)

    scores = {kind: says(kind, 1) + says(other, 0) for kind, other in (kinds, kinds[::-1])}
    if scores[kinds[0]] == scores[kinds[1]]:
        for kind in kinds:  # "the probability that ... a dog"
            scores[kind] += len(re.findall(rf"probability[^.\n]{{0,60}}\b{re.escape(kind.lower())}\b", text))
    if scores[kinds[0]] == scores[kinds[1]]:
        return None
    one = max(kinds, key=lambda kind: scores[kind])
    return [int(label == one) for label in labels]
