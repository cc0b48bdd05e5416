"""Which detectors judged the runs, and what came of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from attrs import frozen

from mlecore.reports.graded import Graded, Judgement


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
        """How many of the runs it judged, in words, where it did not judge all of them."""
        judged = self.runs - self.not_judged
        which = f"{judged} of {self.runs} runs" if judged else "no run, although the plan names it"
        return f"by {self.detector} {which}" if self.not_judged else ""


def detectors(runs: Sequence[Graded]) -> tuple[DetectorUse, ...]:
    """By name: those that judged a run, and those that the plan names."""
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
