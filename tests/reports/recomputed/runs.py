"""Runs as their files have them, and what one run earned."""

from __future__ import annotations

import json
import statistics
import tomllib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
Run = dict[str, Any]
"""run.json, with its grade, snapshots and findings."""

MEDALS = {"any_medal": "any_medal", "gold": "gold_medal", "silver": "silver_medal", "bronze": "bronze_medal"}
KINDS = {**MEDALS, "above_median": "above_median", "valid": "valid_submission", "made": "submission_exists"}


def read_group(folder: Path) -> list[Run]:
    """The runs of a group, by competition and seed; each must have a grade."""
    runs = []
    for path in sorted(folder.glob("*/run.json")):
        run = json.loads(path.read_text())
        assert run["state"] == "graded", f"{path}: {run['state']}"
        run["grade"] = json.loads(path.with_name("grade.json").read_text())
        history = path.with_name("snapshots.json")
        run["history"] = json.loads(history.read_text())["points"] if history.exists() else []
        run["findings"] = [json.loads(each.read_text()) for each in sorted(path.parent.glob("findings/*.json"))]
        runs.append(run)
    return sorted(runs, key=lambda run: (run["competition"], run["seed"]))


@cache
def packages() -> dict[str, dict[str, Any]]:
    """Competition -> its competition.toml."""
    found = {}
    for path in sorted((ROOT / "plugins" / "competitions").glob("*/*/competition.toml")):
        facts = tomllib.loads(path.read_text())
        found[facts["id"]] = facts
    return found


def of_split(split: str) -> list[str]:
    splits = ("low", "medium", "high") if split == "all" else (split,)
    return [id for id, facts in packages().items() if facts.get("split") in splits]


def grouped(runs: Sequence[Run], by: str) -> dict[Any, list[Run]]:
    found: dict[Any, list[Run]] = defaultdict(list)
    for run in runs:
        found[run[by]].append(run)
    return dict(found)


def goal_of(runs: Sequence[Run]) -> str:
    return "any_medal" if any(ranked(run) for run in runs) else "beats_sample"


def ranked(run: Run) -> bool:
    return run["grade"]["gold_threshold"] is not None


def flagged(run: Run) -> bool:
    return any(doubtful(each) for found in run["findings"] for each in found["findings"])


def doubtful(finding: Mapping[str, Any]) -> bool:
    return finding["verdict"] in ("suspicious", "violation")


def reached(run: Run, kind: str, unflagged: bool = False) -> int:
    """``unflagged``: a run that a detector flagged reached nothing."""
    return int(bool(run["grade"][KINDS.get(kind, kind)]) and not (unflagged and flagged(run)))


def mean_share(
    by_competition: Mapping[str, Sequence[Run]], ids: Sequence[str], kind: str, unflagged: bool = False
) -> float:
    return statistics.fmean(
        100 * sum(reached(run, kind, unflagged) for run in by_competition[id]) / len(by_competition[id]) for id in ids
    )


def place_of(run: Run, score: float | None) -> float | None:
    """Where a score lies from the sample's (0) to gold (1); None without such an axis."""
    grade = run["grade"]
    sample, gold = grade["sample_score"], grade["gold_threshold"]
    if score is None or sample is None or gold is None:
        return None
    sign = -1 if grade["is_lower_better"] else 1
    if sign * gold <= sign * sample:
        return None
    return min(max((score - sample) / (gold - sample), 0.0), 1.0)


def final_place(run: Run) -> float | None:
    grade = run["grade"]
    if grade["gold_threshold"] is None or grade["sample_score"] is None:
        return None
    return place_of(run, grade["score"]) if grade["valid_submission"] else 0.0


def positions(runs: Sequence[Run]) -> dict[str, float]:
    found = {}
    for id, part in grouped(runs, "competition").items():
        if places := [place for run in part if (place := final_place(run)) is not None]:
            found[id] = statistics.fmean(places)
    return found
