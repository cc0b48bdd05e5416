"""Everything that a report says of one setup: the runs of one group, all of one agent."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Sequence
from typing import Any

from recomputed.intervals import mean_interval
from recomputed.kinds import pass_at_k, slices
from recomputed.matching import Rows
from recomputed.progress import progress
from recomputed.rates import all_rates
from recomputed.runs import Run, doubtful, final_place, flagged, goal_of, grouped, positions, ranked
from recomputed.sums import ENDS, costs, detectors, failures, outcome


def setup(runs: Sequence[Run]) -> dict[str, Any]:
    """What the report must say of the runs of one group, all of one agent."""
    goal = goal_of(runs)
    by_competition = grouped(runs, "competition")
    places = positions(runs)
    return {
        "goal": goal,
        "coverage": {
            "planned_runs": len(runs),
            "graded_runs": len(runs),
            "planned_competitions": len(by_competition),
            "missing": {},
            "without_runs": [],
            "padded": False,
        },
        "rates": [*all_rates(runs)],
        "pass_at_k": pass_at_k(by_competition, goal),
        "slices": slices(by_competition, goal),
        "position": statistics.fmean(places.values()) if places else None,
        "position_competitions": len(places),
        "position_interval": mean_interval(list(places.values()), sum(len(by_competition[id]) for id in places)),
        "progress": progress(runs),
        "costs": costs(runs),
        "failures": failures(runs),
        "process_ends": dict(Counter(ENDS.get(run["ended"], run["ended"]) for run in runs)),
        "flagged": sum(flagged(run) for run in runs),
        "detectors": detectors(runs),
        "runs": Rows(("competition", "seed"), {(run["competition"], run["seed"]): line(run) for run in runs}),
    }


def line(run: Run) -> dict[str, Any]:
    grade, usage = run["grade"], run["usage"] or {}
    medal = next((name for name in ("gold", "silver", "bronze") if grade[f"{name}_medal"]), "none")
    copied = ("score", "score_text", "sample_score", "beats_sample", "rank", "teams", "percentile", "best_human")
    thresholds = [f"{name}_threshold" for name in ("gold", "silver", "bronze", "median")]
    return {
        **{name: grade[name] for name in (*copied, *thresholds)},
        "run": run["name"],
        "seed": run["seed"],
        "submission": {"graded": "valid", "invalid": "invalid", "none": "none"}[grade["status"]],
        "medal": medal if ranked(run) else None,
        "above_median": grade["above_median"] if ranked(run) else None,
        "lower_is_better": grade["is_lower_better"],
        "position": final_place(run),
        "hours": run["seconds"] / 3600,
        "input_tokens": usage.get("input_tokens"),
        "output_tokens": usage.get("output_tokens"),
        "cost_usd": usage.get("cost_usd"),
        "suspicions": [row for row in listed(run) if doubtful(row)],
        "remarks": [row for row in listed(run) if row["verdict"] in ("note", "undecided")],
        "judged": {found["detector"]["name"]: outcome(found) for found in run["findings"]},
    }


def listed(run: Run) -> list[dict[str, Any]]:
    """What detectors found in a run; each has at most one rule that it could not decide here."""
    return [
        {"detector": found["detector"]["name"], **{name: each[name] for name in ("rule", "verdict", "summary")}}
        | {"confidence": each["confidence"], "evidence": each["evidence"]}
        for found in run["findings"]
        for each in found["findings"]
    ]
