"""A run's use of its models as counted by its gateway: the sums of ``gateway.jsonl``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from mlecore.model.calls import ModelCalls, ModelUse, ServerToolUse

if TYPE_CHECKING:
    from mlecore_gateway.calls import Call

N = TypeVar("N", int, float)
TELL = 0.05  # a larger difference between the gateway's count and the agent's logs is reported


def _figures(calls: Sequence[Call]) -> dict[str, Any]:
    """The fields that ModelCalls and ModelUse share."""
    tokens = [call.tokens for call in calls if call.tokens]
    unknown = [call for call in calls if call.usage == "unknown"]
    cost = _sum([call.cost_usd for call in calls if call.tokens])
    return {
        "calls": len(calls),
        "unknown": len(unknown),
        "estimated_tokens": sum(each.estimate.input + each.estimate.output for each in unknown if each.estimate),
        **{f"{kind}_tokens": sum(getattr(used, kind) for used in tokens) for kind in _KINDS},
        "cost_usd": None if cost is None or not tokens else round(cost, 9),
    }


_KINDS = ("input", "output", "cached", "reasoning")


def spent_in(logs: Iterable[Path], *, under_way: bool = True) -> dict[str, float]:
    """The amounts that the calls of some logs spent, in the form of ``ModelAccess.spent``; empty without calls.

    ``under_way``: include calls that have not ended, at the most that they may cost.
    """
    from mlecore_gateway.ledger import Spent, read_calls

    spent = Spent()
    for log in logs:
        for call in read_calls(log, under_way=under_way):
            spent.add(call)
    return {"usd": spent.usd, "tokens": spent.tokens, "calls": spent.calls} if spent.calls else {}


def measure(log: Path, budgets: Sequence[str] = (), before: Mapping[str, float] | None = None) -> ModelCalls | None:
    """The sums of a log; None if there is none. ``before``: the amounts that earlier attempts spent."""
    from mlecore_gateway.budgets import Budget
    from mlecore_gateway.ledger import Spent, read_calls

    if not log.is_file():
        return None
    limits = [Budget.parse(text) for text in budgets]
    used = before or {}
    spent = Spent(usd=used.get("usd", 0.0), tokens=int(used.get("tokens", 0)), calls=int(used.get("calls", 0)))
    calls: list[Call] = []
    models: dict[str, list[Call]] = {}
    refused = failed = retries = 0
    prices: dict[str, None] = {}
    tools: dict[str, list[int | None]] = {}
    fees: list[float | None] = []
    exhausted: tuple[str, str] | None = None
    for call in read_calls(log):
        if not call.reached:
            refused += call.times
            continue
        spent.add(call)
        failed += call.outcome != "passed" or (call.status or 0) >= 400
        retries += call.retries
        for tool, uses in call.server_tools.items():
            tools.setdefault(tool, []).append(uses)
        fees += [call.fees_usd] if call.server_tools else []
        if call.priced_by and call.tokens:
            prices[call.priced_by] = None
        calls.append(call)
        if call.asked:
            models.setdefault(call.asked, []).append(call)
        over = [limit.text for limit in limits if limit.part_of(spent) >= limit.amount]
        if over and exhausted is None:
            exhausted = over[0], call.time
    return ModelCalls(
        **_figures(calls),
        refused=refused,
        failed=failed,
        retries=retries,
        server_tools=tuple(
            ServerToolUse(tool=tool, calls=len(uses), uses=_sum(uses)) for tool, uses in sorted(tools.items())
        ),
        fees_usd=_sum(fees) if fees else None,
        models=tuple(
            ModelUse(
                model=name,
                answered=tuple(dict.fromkeys(call.answered for call in own if call.answered)),
                unplanned=any(call.unplanned for call in own),
                **_figures(own),
            )
            for name, own in models.items()
        ),
        prices=tuple(prices),
        exhausted=exhausted[0] if exhausted else None,
        exhausted_at=exhausted[1] if exhausted else None,
    )


def _sum(values: Sequence[N | None]) -> N | None:
    """The sum, or None if a value is unknown."""
    known = [value for value in values if value is not None]
    return sum(known[1:], start=known[0]) if known and len(known) == len(values) else None


def difference(measured: ModelCalls, input_tokens: int | None, output_tokens: int | None) -> str:
    """The difference between the agent's logs and the gateway's count, in words; empty if there is none, or no logs.

    Logs that report more are no difference if the gateway does not know the tokens of every call.
    """
    differences = []
    for kind, reported, counted in (
        ("input", input_tokens, measured.input_tokens),
        ("output", output_tokens, measured.output_tokens),
    ):
        if reported is None or (measured.unknown and reported > counted):
            continue
        if abs(reported - counted) > TELL * max(counted, 1):
            differences.append(f"its logs report {reported} {kind} tokens, its gateway counted {counted}")
    return "; ".join(differences)
