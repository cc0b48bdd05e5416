"""What results cost: hours, tokens and money, in total and per medal."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from mlecore.reports.graded import Graded


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
