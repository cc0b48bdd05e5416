"""How a group of runs went, in a few lines: for the end of `mlecore run`, `runs resume` and `runs watch`."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from mlecore.cli.shared import in_folder
from mlecore.model.record import RunRecord
from mlecore.util.units import counted

_BAD = {"invalid": "invalid", "none": "without a submission", "failed": "failed"}


def how_it_went(records: Sequence[RunRecord], runs: Path) -> Iterator[str]:
    """A sentence about all, then a line for each kind of failure: its most common cause, and where to look."""
    kinds: dict[str, list[RunRecord]] = {"valid": [], **{name: [] for name in _BAD.values()}}
    reports = {run.name: run.report for run in records if run.state == "graded"}
    for run in records:
        kind = run.state if (report := reports.get(run.name)) is None else report.status
        kinds.setdefault(_BAD.get(kind, "valid" if report else kind), []).append(run)
    parts = [f"{len(found)} {name}" for name, found in kinds.items() if found]
    valid = [report for report in reports.values() if report and report.status == "graded"]
    if any(report.beats_sample is not None for report in valid):
        parts.append(f"{sum(bool(report.beats_sample) for report in valid)} beat the sample")
    if any(report.gold_threshold is not None for report in valid):
        medals = Counter(report.medal for report in valid if report.medal)
        each = ", ".join(f"{medals[name]} {name}" for name in ("gold", "silver", "bronze") if medals[name])
        parts.append(f"{counted(medals.total(), 'medal')} ({each})" if each else "no medal")
    yield f"{counted(len(records), 'run')}: {', '.join(parts)}"
    for name in _BAD.values():
        causes: dict[str, list[RunRecord]] = defaultdict(list)
        for run in kinds[name]:
            causes[re.sub(r"\d+", "", _cause(run))].append(run)
        if causes:
            first, *others = max(causes.values(), key=len)
            which = f"{len(others) + 1} of {len(kinds[name])}" if len(causes) > 1 else str(len(kinds[name]))
            command = f"mlecore runs {'show' if name == 'failed' else 'logs'} {first.group}/{first.name}"
            yield f"  {which} {name}: {_cause(first)} ({command}{in_folder(runs)})"


def _cause(run: RunRecord) -> str:
    """Why a run failed, or has no valid submission, in a line."""
    report = run.report
    said = report.reason if report and report.reason != "there is no submission" else ""
    told = str(run.outcome) if run.outcome and run.outcome.kind != "submitted" else ""
    return (said or told or run.reason or "the agent ended without one").partition("\n")[0]
