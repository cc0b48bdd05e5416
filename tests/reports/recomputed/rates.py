"""Mean ± one standard error over seeds, by split."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from recomputed.intervals import share_interval
from recomputed.runs import KINDS, Run, flagged, goal_of, grouped, of_split, ranked, reached


def all_rates(runs: Sequence[Run]) -> Iterator[dict[str, Any]]:
    there = {run["competition"] for run in runs}
    rows = {split.capitalize(): of_split(split) for split in ("low", "medium", "high") if there & {*of_split(split)}}
    if rows:
        rows["All"] = of_split("all")
    if not any(there == {*ids} for ids in rows.values()):
        rows["these"] = sorted(there)
    for name, wanted in rows.items():
        yield split_rates(name, wanted, runs)


def split_rates(name: str, wanted: Sequence[str], runs: Sequence[Run]) -> dict[str, Any]:
    seeds = {seed: {run["competition"]: run for run in part} for seed, part in grouped(runs, "seed").items()}
    missing = {seed: len({*wanted} - {*part}) for seed, part in seeds.items()}
    complete = sorted(seed for seed, count in missing.items() if count == 0)
    without = {run["competition"] for run in runs if not ranked(run)}
    rates, intervals, clean = {}, {}, {}
    for kind in (*KINDS, *["beats_sample"] * (goal_of(runs) == "beats_sample")):
        medal = kind not in ("beats_sample", "valid", "made")
        counted = [id for id in wanted if not (medal and id in without)]
        if not complete or not counted:
            rates[kind] = intervals[kind] = clean[kind] = None
            continue
        kept = [[seeds[seed][id] for id in counted] for seed in complete]
        rates[kind] = mean_and_error([[reached(run, kind) for run in part] for part in kept])
        clean[kind] = mean_and_error([[reached(run, kind, unflagged=True) for run in part] for part in kept])
        wins = [[reached(run, kind) for run in column] for column in zip(*kept, strict=True)]
        intervals[kind] = share_interval(wins)
    return {
        "rates": {
            "split": name,
            "competitions": len(wanted),
            "seeds": [str(seed) for seed in complete],
            "incomplete": {str(seed): n for seed, n in missing.items() if 0 < n < len(wanted)},
            "rates": rates,
        },
        "intervals": intervals,
        "without_flagged": clean if any(map(flagged, runs)) else None,
    }


def mean_and_error(seeds: Sequence[Sequence[int]]) -> dict[str, float | None]:
    """Of one list of 0 and 1 a seed, in percent: sample standard deviation over the root of their number."""
    shares = [100 * sum(seed) / len(seed) for seed in seeds]
    mean = sum(shares) / len(shares)
    if len(shares) == 1:
        return {"mean": mean, "sem": None}
    squares = sum((share - mean) ** 2 for share in shares)
    return {"mean": mean, "sem": math.sqrt(squares / (len(shares) - 1)) / math.sqrt(len(shares))}
