"""All setups side by side: what each reached on each competition."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence

from attrs import frozen

from mlecore.reports.compare import by_competition, goal_of, groups_of, mean_score
from mlecore.reports.graded import Graded


@frozen(kw_only=True)
class Reached:
    """One setup on one competition."""

    goal: float  # share of its runs that reached the goal, in percent
    score: float | None  # mean of its valid submissions
    groups: tuple[str, ...]  # that its runs are of


@frozen(kw_only=True)
class SideBySide:
    """All setups on the competitions that were planned for any of them."""

    goal: str  # "any_medal", or "beats_sample" where no medals can be earned
    keys: tuple[str, ...]  # of the setups
    rows: Mapping[
        str, Mapping[str, Reached]
    ]  # competition -> key of a setup -> what it reached; left out without a run


def side_by_side(setups: Mapping[str, Sequence[Graded]], planned: Iterable[str]) -> SideBySide:
    """Of the runs of setups that count, by the setups' keys, on the ``planned`` competitions."""
    goal = goal_of([item for runs in setups.values() for item in runs])
    by_key = {key: by_competition(runs) for key, runs in setups.items()}
    return SideBySide(
        goal=goal,
        keys=tuple(setups),
        rows={
            competition: {key: _reached(runs[competition], goal) for key, runs in by_key.items() if competition in runs}
            for competition in sorted(set(planned))
        },
    )


def _reached(items: Sequence[Graded], goal: str) -> Reached:
    return Reached(
        goal=100 * statistics.fmean(bool(getattr(item.outcome, goal)) for item in items),
        score=mean_score(items),
        groups=groups_of(items),
    )
