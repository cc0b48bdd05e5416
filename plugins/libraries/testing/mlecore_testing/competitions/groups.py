"""Rule: rows of a declared group (``group = "patient_id"``) are all for training or all for testing."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from mlecore_audit.subject import Subject
from mlecore_audit.tables import tables
from mlecore_audit.training import joined

from mlecore_testing.competitions.harness import Harness
from mlecore_testing.rules import Broken

_SHOWN = 3  # groups named


def groups(harness: Harness) -> Iterator[Broken]:
    column = harness.facts.group
    if column is None:
        return
    train, test = _parts(harness.subject, column)
    for part, found in (("training", train), ("test", test)):
        if not found:
            yield Broken(f"no table has {column!r} beside the ids of {part} rows", "competition.toml, group")
    if both := sorted(train & test):
        named = ", ".join(both[:_SHOWN]) + (" ..." if len(both) > _SHOWN else "")
        yield Broken(f"{len(both)} of {len(test)} test groups are in the training data, too: {named}", column)


def _parts(subject: Subject, column: str) -> tuple[set[str], set[str]]:
    """The groups of training rows, which public tables hold, and of test rows, which the answers may hold, too."""
    import pandas as pd

    train: set[str] = set()
    test: set[str] = set()
    answers = pd.read_csv(subject.root / subject.facts.answers, dtype=str, keep_default_na=False)
    public = (frame for _, batches in tables(subject.root, subject.failed) for frame in batches)
    for frame, is_public in chain([(answers, False)], ((frame, True) for frame in public)):
        if not {*subject.keys, column} <= set(frame.columns):
            continue
        known = joined(frame, subject.keys).isin(subject.answers.index)
        if column in subject.keys and not known.all():  # training rows of a test group have its id, too
            known[:] = False
        test |= set(frame[column][known])
        if is_public:
            train |= set(frame[column][~known])
    return train, test
