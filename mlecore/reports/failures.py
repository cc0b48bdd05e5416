"""Why runs earned nothing, in counts."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence

from attrs import frozen

from mlecore.reports.graded import Graded

_ENDED = {
    "timed_out": "time limit reached",
    "crashed": "crashed",
    "oom": "out of memory",
    "stopped": "stopped",
    "lost": "lost by the backend",
}


@frozen(kw_only=True)
class Failure:
    """A kind of failure, and its cause as far as it is known."""

    kind: str  # "no submission", "invalid submission", "not graded", "not run"
    cause: str
    runs: tuple[str, ...]


def failures(runs: Sequence[Graded]) -> tuple[Failure, ...]:
    """Runs without a valid submission by kind, most frequent first."""
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    for item in runs:
        if kind := _kind(item):
            found[kind].append(item.run.name)
    return tuple(
        Failure(kind=kind, cause=cause, runs=tuple(names))
        for (kind, cause), names in sorted(found.items(), key=lambda pair: (-len(pair[1]), pair[0]))
    )


def _kind(item: Graded) -> tuple[str, str] | None:
    run, report = item.run, item.report
    if not item.counts:
        return "not run", f"{run.state}: {_general(run.reason)}" if run.reason else run.state
    if report is None:
        why = "grading failed" if run.state == "collected" else "grade.json cannot be read"
        return "not graded", f"{why}; `mlecore runs resume {run.group}` grades again"
    if report.status == "invalid":
        return "invalid submission", _general(report.reason)
    if report.status == "none":
        ended = _ENDED.get(run.ended or "", "ended without one")
        return "no submission", f"{ended}; as reported by the agent, {run.outcome.meaning}" if run.outcome else ended
    return None


def process_ends(runs: Sequence[Graded]) -> dict[str, int]:
    """How the agents' processes ended, of runs that count -> number of runs; whatever their results are."""
    found: dict[str, int] = defaultdict(int)
    for item in runs:
        if item.counts:
            found[_ENDED.get(item.run.ended or "", item.run.ended or "unknown")] += 1
    return dict(sorted(found.items(), key=lambda pair: (-pair[1], pair[0])))


def outcomes(runs: Sequence[Graded]) -> dict[str, int]:
    """How the agents say they ended, of runs that count -> number of runs."""
    found = Counter(item.run.outcome.meaning for item in runs if item.counts and item.run.outcome)
    return dict(found.most_common())


def _general(reason: str) -> str:
    """The first line with its numbers and quoted values left out, so that like reasons are counted together."""
    line = (reason.splitlines() or [""])[0]
    line = re.sub(r"'[^']*'|\"[^\"]*\"", "'…'", line)
    line = re.sub(r"\d[\d,.]*(?<![,.])", "N", line)
    return line[:120]
