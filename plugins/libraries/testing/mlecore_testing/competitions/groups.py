"""Rule: rows of a declared group (``group = "patient_id"``) are all for training or all for testing."""

from __future__ import annotations

from collections.abc import Iterator

from mlecore_audit.tables import tables
from mlecore_testing.competitions.harness import Harness
from mlecore_testing.rules import Broken

_SHOWN = 3  # groups named


def groups(harness: Harness) -> Iterator[Broken]:
    column = harness.facts.group
    if column is None:
        return
    train, test = _parts(harness, column)
    for part, found in (("training", train), ("test", test)):
        if not found:
            yield Broken(f"no table has {column!r} beside the ids of {part} rows", "competition.toml, group")
    if both := sorted(train & test):
        named = ", ".join(both[:_SHOWN]) + (" ..." if len(both) > _SHOWN else "")
        yield Broken(f"{len(both)} of {len(test)} test groups are in the training data, too: {named}", column)


def _parts(harness: Harness, column: str) -> tuple[set[str], set[str]]:
    """The groups of training rows, which public tables hold, and of test rows, which any table may hold."""
    key = harness.subject.keys[0]
    ids = harness.subject.perfect[key]
    train: set[str] = set()
    test: set[str] = set()
    for folder in ("public", "private"):
        for _, batches in tables(harness.prepared, folder=folder):
            for frame in batches:
                if not {key, column} <= set(frame.columns):
                    break
                known = frame[key].isin(ids)
                if key == column and not known.all():  # training rows of a test group have its id, too
                    known[:] = False
                test |= set(frame[column][known])
                if folder == "public":
                    train |= set(frame[column][~known])
    return train, test
