"""A call as ``gateway.jsonl`` has it."""

from __future__ import annotations

from typing import Literal

import msgspec

TEXT = 200  # characters that any word of the agent or the endpoint gets in the log


class Tokens(msgspec.Struct, kw_only=True):
    """As the response reports them; ``cached`` and ``cache_write`` are in ``input``, ``reasoning`` is in ``output``."""

    input: int = 0
    output: int = 0
    cached: int = 0
    cache_write: int = 0
    reasoning: int = 0

    def add(self, other: Tokens) -> None:
        self.input += other.input
        self.output += other.output
        self.cached += other.cached
        self.cache_write += other.cache_write
        self.reasoning += other.reasoning


class Call(msgspec.Struct, kw_only=True):
    """One request of the agent, and its outcome. Times are seconds, sizes bytes."""

    number: int = 0
    time: str  # when it came, UTC
    method: str
    path: str  # without the query
    asked: str | None = None  # the model that the request names
    answered: str | None = None  # the model that the response names
    # started: it is under way; the call's other line has how it ended
    outcome: Literal["started", "passed", "refused", "failed", "cut"] = "failed"
    reason: str = ""  # of every outcome but "started" and "passed"
    status: int | None = None  # that the agent got
    stream: bool = False
    # counted: as the response says; none: nothing was spent; unknown: something was, and the response does not say what
    usage: Literal["counted", "none", "unknown"] = "none"
    tokens: Tokens | None = None  # where usage is counted
    estimate: Tokens | None = None  # where it is unknown: what budgets count instead, and no sum
    cost_usd: float | None = None  # of tokens, or of the estimate, and of the provider's tools
    priced_by: str | None = None
    unplanned: bool = False  # the plan does not name the model
    # what the provider was allowed to do past the sandbox -> how often it did; None: the response does not say
    server_tools: dict[str, int | None] = {}
    fees_usd: float | None = None  # of these, in the cost; None: it is not known, or there were none
    first_byte: float | None = None  # from the request's last byte to the response's first
    seconds: float = 0.0
    waited: float = 0.0  # of them for other calls to end (max_calls, budgets) and before retries
    retries: int = 0
    sent: int = 0
    received: int = 0
    times: int = 1  # a line may stand for many refusals
    fault: str = ""  # why the endpoint is to blame for a call without an answer, in words; empty: it is not

    @property
    def reached(self) -> bool:
        """Was it passed on to the endpoint?"""
        return self.outcome != "refused"


def short(text: str) -> str:
    """Safe for a line of the log, from any source."""
    clean = "".join(letter if letter.isprintable() else "?" for letter in text[: TEXT + 1])
    return clean if len(clean) <= TEXT else clean[: TEXT - 1] + "…"
