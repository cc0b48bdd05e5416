"""pass@k, and competitions by kind."""

from __future__ import annotations

import itertools
import re
import statistics
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from recomputed.intervals import share_interval
from recomputed.matching import Rows
from recomputed.runs import Run, flagged, mean_share, packages, positions, reached


def pass_at_k(by_competition: Mapping[str, Sequence[Run]], goal: str) -> list[dict[str, Any]]:
    """By trying every choice of k runs."""
    doubtful = any(flagged(run) for runs in by_competition.values() for run in runs)
    rows = []
    for k in range(1, max(map(len, by_competition.values())) + 1):
        counted = [runs for runs in by_competition.values() if len(runs) >= k]
        rows.append(
            {
                "k": k,
                "competitions": len(counted),
                "planned": len(counted),
                "share": best_of(k, counted, goal),
                "without_flagged": best_of(k, counted, goal, unflagged=True) if doubtful else None,
            }
        )
    return rows


def best_of(k: int, competitions: Sequence[Sequence[Run]], goal: str, unflagged: bool = False) -> float:
    shares = []
    for runs in competitions:
        choices = list(itertools.combinations([reached(run, goal, unflagged) for run in runs], k))
        shares.append(100 * sum(map(any, choices)) / len(choices))
    return statistics.fmean(shares)


def slices(by_competition: Mapping[str, Sequence[Run]], goal: str) -> Rows:
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    for id in by_competition:
        facts = packages()[id]
        for by, value in (
            ("modality", facts["modality"]),
            ("task", family(facts["task"])),
        ):
            found[by, value].append(id)
    values = Counter(by for by, _ in found)
    doubtful = any(flagged(run) for runs in by_competition.values() for run in runs)
    rows = {}
    for (by, value), ids in found.items():
        if not 1 < values[by] < len(by_competition):
            continue
        runs = [run for id in ids for run in by_competition[id]]
        places = positions(runs)
        rows[by, value] = {
            "competitions": len(ids),
            "planned_competitions": len(ids),
            "runs": len(runs),
            "planned_runs": len(runs),
            "goal": mean_share(by_competition, ids, goal),
            "goal_without_flagged": mean_share(by_competition, ids, goal, unflagged=True) if doubtful else None,
            "valid": mean_share(by_competition, ids, "valid"),
            "interval": share_interval([[reached(run, goal) for run in by_competition[id]] for id in ids]),
            "position": statistics.fmean(places.values()) if places else None,
        }
    return Rows(("by", "value"), rows)


def family(task: str) -> str:
    for pattern, name in (
        ("segmentation", "segmentation"),
        ("detection", "detection"),
        ("regression|positioning", "regression"),
        ("classification|tagging", "classification"),
        ("normali|sequence to sequence|to text|missing from", "text generation"),
        ("span|question answering", "extraction"),
    ):
        if re.search(pattern, task, re.IGNORECASE):
            return name
    return "other"
