"""Two setups on the competitions that both ran."""

from __future__ import annotations

import itertools
import math
import statistics
from collections import defaultdict
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from recomputed.intervals import difference_interval, mean_interval
from recomputed.matching import Rows
from recomputed.runs import Run, flagged, goal_of, grouped, mean_share, reached


def comparison(a: Sequence[Run], b: Sequence[Run]) -> dict[str, Any]:
    goal = goal_of([*a, *b])
    of_a, of_b = grouped(a, "competition"), grouped(b, "competition")
    both = [id for id in of_a if id in of_b]
    wins = {id: beats(of_a[id], of_b[id]) for id in both}
    kinds = ("any_medal", "above_median", "valid") if goal == "any_medal" else ("beats_sample", "valid")
    doubtful = any(flagged(run) for of in (of_a, of_b) for id in both for run in of[id])
    without = (False, True) if doubtful else (False,)
    return {
        "competitions": len(both),
        "planned": len(both),
        "goal": goal,
        "differences": [difference(kind, of_a, of_b, both, each) for kind in kinds for each in without],
        "a_wins": statistics.fmean(wins.values()),
        "a_wins_interval": mean_interval(list(wins.values()), sum(min(len(of_a[id]), len(of_b[id])) for id in both)),
        "pairs": Rows(
            ("competition",),
            {
                (id,): {
                    "a": mean_share(of_a, [id], goal),
                    "b": mean_share(of_b, [id], goal),
                    "difference": mean_share(of_a, [id], goal) - mean_share(of_b, [id], goal),
                    "a_score": mean_score(of_a[id]),
                    "b_score": mean_score(of_b[id]),
                    "a_wins": wins[id],
                }
                for id in both
            },
        ),
    }


def difference(
    kind: str, of_a: Mapping[str, Sequence[Run]], of_b: Mapping[str, Sequence[Run]], both: Sequence[str], without: bool
):
    a, b = ({id: [reached(run, kind, without) for run in of[id]] for id in both} for of in (of_a, of_b))
    steps = [Fraction(sum(a[id]), len(a[id])) - Fraction(sum(b[id]), len(b[id])) for id in both]
    return {
        "rate": kind,
        "without_flagged": without,
        "competitions": len(both),
        "a": mean_share(of_a, both, kind, without),
        "b": mean_share(of_b, both, kind, without),
        "difference": float(100 * sum(steps) / len(steps)),
        "interval": difference_interval(list(a.values()), list(b.values())),
        "p": sign_test(steps, abs(sum(steps))),
        "smallest_p": sign_test(steps, sum(map(abs, steps))),
        "p_holm": None,
    }


def sign_test(steps: Sequence[Fraction], distance: Fraction | int) -> float:
    """Of all 2^n choices of signs, the share whose sum is at least so far from 0: counted with whole numbers."""
    ways: dict[Fraction, int] = {Fraction(0): 1}
    for step in steps:
        more: dict[Fraction, int] = defaultdict(int)
        for total, count in ways.items():
            more[total + step] += count
            more[total - step] += count
        ways = more
    far = sum(count for total, count in ways.items() if abs(total) >= distance)
    return float(Fraction(far, 2 ** len(steps)))


def beats(a: Sequence[Run], b: Sequence[Run]) -> float:
    """How often a run of a is better than one of b; half for a tie. Nothing is worse than no valid submission."""
    wins = 0.0
    for one, other in itertools.product(a, b):
        mine, theirs = quality(one), quality(other)
        wins += 0.5 if mine == theirs else mine > theirs
    return wins / (len(a) * len(b))


def quality(run: Run) -> float:
    grade = run["grade"]
    score = float(grade["score_text"]) if grade["valid_submission"] else math.nan
    if math.isnan(score):
        return -math.inf
    return -score if grade["is_lower_better"] else score


def mean_score(runs: Sequence[Run]) -> float | None:
    scores = [run["grade"]["score"] for run in runs if run["grade"]["score"] is not None]
    return statistics.fmean(scores) if scores else None
