"""Compares a bundle's group with one that a second party ran: the same agent, competitions and seeds."""

from __future__ import annotations

from pathlib import Path

from mle_ext_sharing.public import Public
from mle_ext_sharing.statement import Comparison
from mle_ext_sharing.verifying import verify_group
from mlecore.errors import DataError, UsageError
from mlecore.model.record import RunRecord
from mlecore.runs.store import load_group, open_group


def compare(theirs: Path, own: Path) -> Comparison:
    """Pair the runs of the same agent, competition, edition, kind of data and seed.

    Raises UsageError if there is no pair, or if both are the same group; DataError if the second party's was changed.
    """
    group = open_group(own)
    if group.info.uid == open_group(theirs).info.uid:
        raise UsageError(f"{own} is the group of the bundle itself", fix="Name the group of the repeated runs.")
    if wrong := verify_group(own).wrong:
        raise DataError(f"{own} was changed: {wrong[0]}")
    first, again = _graded(theirs), _graded(own)
    pairs = [(first[key], again[key]) for key in first if key in again]
    if not pairs:
        raise UsageError(f"{own} has no graded run of the same agent, competition and seed as the bundle")
    return Comparison(runs=len(pairs), group_uid=group.info.uid, same_medal=sum(a == b for a, b in pairs))


def _graded(group: Path) -> dict[tuple[object, ...], bool]:
    """Run -> whether it earned a medal."""
    public = Public(open_group(group))  # the other party has its files elsewhere
    return {
        _key(public.record(record)): report.any_medal
        for record in load_group(group)
        if record.state == "graded" and (report := record.report)
    }


def _key(run: RunRecord) -> tuple[object, ...]:
    options = tuple(sorted(run.agent.options.items()))
    return run.agent.name, run.label, options, run.model, run.competition, run.edition, run.data_kind, run.seed
