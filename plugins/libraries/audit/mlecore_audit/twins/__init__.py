"""Equal and nearly equal items across train and test, and the score of copying a twin's label."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from mlecore_audit.copying import score_of_copies
from mlecore_audit.finding import Finding, Level
from mlecore_audit.subject import Subject
from mlecore_audit.training import Role
from mlecore_audit.twins.files import MOST, Entry, Files, read_files
from mlecore_audit.twins.hamming import near_pairs
from mlecore_audit.twins.pictures import RADIUS, Kind, positions, same
from mlecore_audit.twins.tables import Twins, twins_in_tables
from mlecore_audit.twins.texts import near_texts

if TYPE_CHECKING:
    from pandas import DataFrame

_TENTH = 0.1  # of the test rows; of the way from the sample's score to the perfect one
_NEAREST = 3  # training images that are compared in detail with a test image as it is
_FIX = "keep one of each before you split; or both in one part, if a column names what they show: --group COLUMN"
_COMMON = 20  # training rows with the same file or picture, above which it is a blank, not a copy


def examine(subject: Subject) -> Iterator[Finding]:
    """At most a finding for each kind of likeness."""
    with read_files(subject) as files:
        for twins in (
            _same_bytes(files),
            _near_pictures(files, "image"),
            _near_pictures(files, "sound"),
            _near_files(files),
        ):
            if twins.pairs:
                yield _finding(subject, twins)
    for found in twins_in_tables(subject):
        yield _finding(subject, found)


def _finding(subject: Subject, twins: Twins) -> Finding:
    score = score_of_copies(subject, twins.pairs)
    share = len(twins.pairs) / len(subject.answers)
    level: Level = subject.level_of(score) if score is not None else "note"
    if level != "note" and subject.gain(score) - subject.gain(_by_chance(subject, twins.pairs)) < _TENTH:
        level = "note"
    if level == "note" and share >= _TENTH:
        level = "caution"
    test, train = twins.example
    evidence = (
        f"{len(twins.pairs):,} of {len(subject.answers):,} test rows {twins.what}, such as {test} and {train}"
        f"{_agreement(subject, twins.pairs)}{twins.looked}"
    )
    file = test.partition(":")[0]
    return Finding(level=level, kind="twins", file=file, evidence=evidence, score=score, fix=_FIX)


def _by_chance(subject: Subject, pairs: Mapping[str, str]) -> float | None:
    """The score of labels dealt out among the twins: any label may be nearer to the truth than the sample's."""
    dealt = np.random.default_rng(0).permutation(list(pairs.values())).tolist()
    return score_of_copies(subject, dict(zip(pairs, dealt, strict=True)))


def _agreement(subject: Subject, pairs: Mapping[str, str]) -> str:
    """How many twins have the same label."""
    train = subject.train
    if train is None:
        return "; the labels of training rows were not found"
    known = {key: other for key, other in pairs.items() if other in train.index and key in subject.answers.index}
    if not known:
        return "; none of these has labels"
    answers: DataFrame = subject.answers[train.columns].loc[list(known)]
    equal = (answers.to_numpy() == train.loc[list(known.values())].to_numpy()).all(axis=1)
    return f"; of {len(known):,} with known labels, {int(equal.sum()):,} have the same ones"


def _same_bytes(files: Files) -> Twins:
    train: dict[bytes, list[Entry]] = {}
    for entry in _of(files, "train", lambda entry: entry.digest is not None):
        train.setdefault(entry.digest or b"", []).append(entry)
    pairs = [
        (entry, train[entry.digest][0])
        for entry in _of(files, "test", lambda entry: entry.digest in train)
        if entry.digest and len({other.key for other in train[entry.digest]}) <= _COMMON
    ]
    return _twins("have a file with the same bytes as one of a training row", pairs)


def _near_pictures(files: Files, kind: Kind) -> Twins:
    test, train = (
        [*_of(files, part, lambda entry: bool(entry.hashes) and entry.kind == kind)] for part in ("test", "train")
    )
    common = Counter(hash for _, hash in {(entry.key, entry.hashes[0]) for entry in train})
    train = [entry for entry in train if common[entry.hashes[0]] <= _COMMON]
    others = np.array([entry.hashes[0] for entry in train], np.uint64)
    pairs: dict[int, tuple[Entry, Entry]] = {}
    turned = 0
    for position in range(len(test[0].hashes) if test else 0):
        hashes = np.array([entry.hashes[position] for entry in test], np.uint64)
        near = near_pairs(hashes, others, RADIUS, 1 if position else _NEAREST)
        for row, other in zip(near.row.tolist(), near.other.tolist(), strict=True):
            if row not in pairs and same(positions(files.picture(test[row]))[position], files.picture(train[other])):
                pairs[row] = test[row], train[other]
                turned += position > 0
    how = f" ({turned:,} of them mirrored or turned)" if turned else ""
    looked = f" (among some {MOST:,} {kind}s of a part, chosen at random)" if files.share < 1 else ""
    return _twins(f"have nearly the same {kind} as a training row{how}", pairs.values(), looked)


def _near_files(files: Files) -> Twins:
    test, train = (
        [*_of(files, part, lambda entry: entry.place is not None and entry.kind is None)] for part in ("test", "train")
    )
    pairs = near_texts(*(((n, files.text(entry)) for n, entry in enumerate(part)) for part in (test, train)))
    return _twins(
        "share most of the phrases of their text with a training row", ((test[n], train[m]) for n, m in pairs)
    )


def _of(files: Files, part: Role | str, wanted: Callable[[Entry], bool]) -> Iterator[Entry]:
    return (entry for entry in files.entries if entry.part == part and wanted(entry))


def _twins(what: str, pairs: Iterable[tuple[Entry, Entry]], looked: str = "") -> Twins:
    found = list(pairs)
    example = (found[0][0].name, found[0][1].name) if found else ("", "")
    return Twins(what, {entry.key: other.key for entry, other in reversed(found)}, example, looked)
