"""Counts over the runs of a setup: what they cost, why they earned nothing, which detectors judged them."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from attrs import frozen

from mle_ext_report.graded import Graded, Judgement


@frozen(kw_only=True)
class Cost:
    """Sums over runs. ``known`` of ``runs`` say how much; a sum over fewer than all of them is a lower bound."""

    unit: str  # "hours", "input tokens", "output tokens", "estimated tokens" (of calls that report none), "US dollars"
    total: float
    known: int
    runs: int
    measured: int | None  # of the known ones, by the gateway; the others are from agents' logs. None for hours
    per_medal: float | None  # None: no medal was earned, or none can be


def costs(runs: Sequence[Graded]) -> tuple[Cost, ...]:
    """Each cost that at least one run knows."""
    medals = sum(item.outcome.any_medal for item in runs)
    return tuple(
        Cost(
            unit=unit,
            total=sum(known),
            known=len(known),
            runs=len(runs),
            measured=None if unit == "hours" else _measured(runs, values),
            per_medal=sum(known) / medals if medals else None,
        )
        for unit, values in _values(runs).items()
        if (known := [value for value in values if value is not None])
    )


def _measured(runs: Sequence[Graded], values: Sequence[float | None]) -> int:
    usages = [item.run.usage for item, value in zip(runs, values, strict=True) if value is not None]
    return sum(usage is not None and usage.measured for usage in usages)


def _values(runs: Sequence[Graded]) -> dict[str, list[float | None]]:
    hours = [None if item.run.seconds is None else item.run.seconds / 3600 for item in runs]
    usages = [item.run.usage for item in runs]
    return {
        "hours": hours,
        "input tokens": [usage.input_tokens if usage else None for usage in usages],
        "output tokens": [usage.output_tokens if usage else None for usage in usages],
        "estimated tokens": [usage.estimated_tokens if usage else None for usage in usages],
        "US dollars": [usage.cost_usd if usage else None for usage in usages],
    }


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
    found = Counter(_ENDED.get(item.run.ended or "", item.run.ended or "unknown") for item in runs if item.counts)
    return dict(sorted(found.items(), key=lambda pair: (-pair[1], pair[0])))


def outcomes(runs: Sequence[Graded]) -> dict[str, int]:
    """How the agents say they ended, of runs that count -> number of runs."""
    found = Counter(item.run.outcome.meaning for item in runs if item.counts and item.run.outcome)
    return dict(found.most_common())


def _general(reason: str) -> str:
    """The first line without its numbers and quoted values, so that similar reasons are counted together."""
    line = (reason.splitlines() or [""])[0]
    line = re.sub(r"'[^']*'|\"[^\"]*\"", "'…'", line)
    line = re.sub(r"\d[\d,.]*(?<![,.])", "N", line)
    return line[:120]


@frozen(kw_only=True)
class DetectorUse:
    """One detector over the runs of a setup."""

    detector: str
    versions: tuple[str, ...]
    runs: int  # of the setup, judged or not
    outcomes: Mapping[str, int]  # runs by "violation", "suspicious", "failed", "undecided", "note", "clean"
    tokens: int | None  # of its models, where it says so
    cost_usd: float | None  # of its models, where it says so
    problems: tuple[str, ...]  # why it failed or could not decide, most frequent first

    @property
    def not_judged(self) -> int:
        return self.runs - sum(self.outcomes.values())

    @property
    def gap(self) -> str:
        """How many runs it judged, in words; empty if it judged all."""
        judged = self.runs - self.not_judged
        which = f"{judged} of {self.runs} runs" if judged else "no run, although the plan names it"
        return f"by {self.detector} {which}" if self.not_judged else ""


def detectors(runs: Sequence[Graded]) -> tuple[DetectorUse, ...]:
    """Detectors that judged a run or are named in the plan, by name."""
    by_name: dict[str, list[Judgement]] = {name: [] for item in runs for name in item.planned_detectors}
    for item in runs:
        for judgement in item.judgements:
            by_name.setdefault(judgement.detector, []).append(judgement)
    return tuple(_use(name, judgements, len(runs)) for name, judgements in sorted(by_name.items()))


def _use(name: str, judgements: Sequence[Judgement], runs: int) -> DetectorUse:
    usages = [judgement.usage for judgement in judgements if judgement.usage]
    tokens = [n for usage in usages for n in (usage.input_tokens, usage.output_tokens) if n is not None]
    costs = [usage.cost_usd for usage in usages if usage.cost_usd is not None]
    problems = Counter(judgement.why for judgement in judgements if judgement.why)
    return DetectorUse(
        detector=name,
        versions=tuple(sorted({judgement.version for judgement in judgements if judgement.version})),
        runs=runs,
        outcomes=dict(Counter[str](judgement.outcome for judgement in judgements)),
        tokens=sum(tokens) if tokens else None,
        cost_usd=sum(costs) if costs else None,
        problems=tuple(why for why, _ in problems.most_common(3)),
    )
