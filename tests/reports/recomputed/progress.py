"""What the submissions as they stood after some time had earned."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

from recomputed.runs import Run, final_place, place_of, ranked, reached


def progress(runs: Sequence[Run]) -> list[dict[str, Any]]:
    if not any(run["history"] for run in runs):
        return []
    limit = max(run["limits"]["time"] for run in runs)
    rows = []
    for hours in (1, 2, 4, 8, 16, 24):
        seconds = limit * hours / 24
        medals, beaten, valid, places = [], [], [], []
        for run in runs:
            medal, better, is_valid, place = at(run, seconds)
            medals += [medal] * ranked(run)
            beaten.append(better)
            valid.append(is_valid)
            places += [] if final_place(run) is None else [place]
        rows.append(
            {
                "seconds": seconds,
                "runs": len(runs),
                "any_medal": 100 * statistics.fmean(medals) if medals else None,
                "beats_sample": 100 * statistics.fmean(beaten),
                "valid": 100 * statistics.fmean(valid),
                "position": statistics.fmean(places) if places else None,
            }
        )
    return rows


def at(run: Run, seconds: float) -> tuple[bool, bool, bool, float]:
    """Has it a medal, does it beat the sample, is it valid, and where does it lie, at that time?"""
    if run["seconds"] is not None and run["seconds"] <= seconds:
        ends = (bool(reached(run, kind)) for kind in ("any_medal", "beats_sample", "valid"))
        return *ends, final_place(run) or 0.0
    so_far = sorted((point for point in run["history"] if point["seconds"] <= seconds), key=lambda p: p["seconds"])
    if not so_far or so_far[-1]["status"] != "graded":
        return False, False, False, 0.0
    score, sample = so_far[-1]["score"], run["grade"]["sample_score"]
    better = sample is not None and (score - sample) * (-1 if run["grade"]["is_lower_better"] else 1) > 0
    return so_far[-1]["medal"] is not None, better, True, place_of(run, score) or 0.0
