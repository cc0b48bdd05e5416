"""Costs, failures, and what detectors said, in counts."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from recomputed.matching import Rows
from recomputed.runs import Run, reached


def costs(runs: Sequence[Run]) -> Rows:
    medals = sum(reached(run, "any_medal") for run in runs)
    rows = {}
    for unit, name in (
        ("hours", ""),
        ("input tokens", "input_tokens"),
        ("output tokens", "output_tokens"),
        ("estimated tokens", "estimated_tokens"),
        ("US dollars", "cost_usd"),
    ):
        if name:
            usages = [run["usage"] for run in runs if run["usage"] and run["usage"].get(name) is not None]
            values = [usage[name] for usage in usages]
            measured = sum(usage["measured"] for usage in usages)
        else:
            values = [run["seconds"] / 3600 for run in runs if run["seconds"] is not None]
            measured = None
        if values:
            rows[(unit,)] = {
                "total": float(sum(values)),
                "known": len(values),
                "runs": len(runs),
                "measured": measured,
                "per_medal": sum(values) / medals if medals else None,
            }
    return Rows(("unit",), rows)


ENDS = {"timed_out": "time limit reached", "oom": "out of memory", "lost": "lost by the backend"}


def failures(runs: Sequence[Run]) -> Rows:
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    for run in runs:
        status = run["grade"]["status"]
        if status == "none":
            why = {**ENDS, "finished": "ended without one"}.get(run["ended"], run["ended"])
            found["no submission", why].append(run["name"])
        elif status == "invalid":
            quoted = re.sub(r"(['\"]).*?\1", "'…'", run["grade"]["reason"].split("\n")[0])
            found["invalid submission", re.sub(r"\d+(?:[.,]\d+)*", "N", quoted)[:120]].append(run["name"])
    return Rows(("kind", "cause"), {kind: {"runs": names} for kind, names in found.items()})


def detectors(runs: Sequence[Run]) -> Rows:
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for run in runs:
        for each in run["findings"]:
            found[each["detector"]["name"]].append(each)
    rows = {}
    for name, each in found.items():
        usages = [one["usage"] for one in each if one["usage"]]
        tokens = [u[key] for u in usages for key in ("input_tokens", "output_tokens") if u[key] is not None]
        dollars = [u["cost_usd"] for u in usages if u["cost_usd"] is not None]
        rows[(name,)] = {
            "runs": len(runs),
            "outcomes": dict(Counter(map(outcome, each))),
            "tokens": sum(tokens) if tokens else None,
            "cost_usd": float(sum(dollars)) if dollars else None,
        }
    return Rows(("detector",), rows)


def outcome(found: Mapping[str, Any]) -> str:
    if found["failed"]:
        return "failed"
    verdicts = {each["verdict"] for each in found["findings"]}
    verdicts |= {"undecided"} if found.get("not_read") else set()
    return next((v for v in ("violation", "suspicious", "undecided", "note") if v in verdicts), "clean")
