"""What the runs of a report say about further ones: how many tell two setups apart, and which competitions stand for
all. Both count as pairs of setups do."""

from __future__ import annotations

from attrs import evolve

from mle_ext_report.document import Document, SetupSummary, leagues
from mle_ext_report.planning.power import estimate
from mle_ext_report.planning.subsets import choose
from mle_ext_report.rates import counts
from mle_ext_report.statistics import Counts
from mlecore.errors import UsageError

_COMPETITIONS = 5  # with fewer, no difference can have p < 0.05


def with_plans(document: Document, points: float) -> Document:
    """The report with its answers to --power, from the largest set of setups whose rates compare.

    ``points``: the difference to find, in percentage points. Raises UsageError if two setups do not share five
    competitions, or if all runs ended alike.
    """
    import numpy as np

    found = leagues([setup for setup in document.setups if setup.averaged])
    setups = sorted(max(found, key=len) if found else (), key=document.setups.index)
    tables = [_counts(setup) for setup in setups]
    ids = sorted({id for table in tables for id in table})
    wins, runs = (np.array([[table.get(id, (0, 0))[n] for id in ids] for table in tables]) for n in (0, 1))
    if ((runs > 0).sum(axis=0) > 1).sum() < _COMPETITIONS:
        raise UsageError(
            f"--power needs {_COMPETITIONS} competitions with results of two setups, to see how setups differ",
            fix="Name more groups. Setups need the same goal and edition, and each the same conditions (or --mix).",
        )
    if wins.sum() in (0, runs.sum()):
        raise UsageError(
            "all runs ended alike, so --power cannot say anything about further ones",
            fix="Name groups that succeed on some competitions and fail on others.",
        )
    keys = tuple(setup.key for setup in setups)
    complete = [number for number in range(len(ids)) if runs[:, number].all()]
    shares = wins[:, complete] / runs[:, complete]
    return evolve(
        document,
        power=estimate(wins, runs, points, keys),
        subsets=choose(shares, [ids[number] for number in complete], keys),
    )


def _counts(setup: SetupSummary) -> Counts:
    """The runs that reached the goal; medals leave out competitions that award none."""
    assert setup.planned_rates is not None
    without = setup.planned_rates.rates.unranked if setup.goal == "any_medal" else ()
    lines = (line for line in setup.runs if setup.coverage.padded or line.state in ("graded", "collected"))
    return counts(((line.competition, line) for line in lines if line.competition not in without), "reached_goal")
