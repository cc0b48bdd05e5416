"""What a run asked of its models, as its gateway counted."""

from __future__ import annotations

from attrs import frozen

from mlecore.model.agents import Usage


@frozen(kw_only=True)
class ModelUse:
    """One model, as requests named it."""

    model: str  # its name in requests
    answered: tuple[str, ...] = ()  # its names in responses
    calls: int = 0  # that named it
    input_tokens: int = 0  # cached ones included
    output_tokens: int = 0  # reasoning included
    cached_tokens: int = 0  # of the input
    reasoning_tokens: int = 0  # of the output
    cost_usd: float | None = None  # of the calls whose usage is known; not known where a price is missing
    unknown: int = 0  # calls whose response does not say what they used, or cannot be right: in none of these sums
    estimated_tokens: int = 0  # of these calls
    unplanned: bool = False  # the plan does not name it


@frozen(kw_only=True)
class ServerToolUse:
    """A tool that the model's provider ran, or anything else that it did outside the sandbox."""

    tool: str  # its name, without a version
    calls: int = 0  # that asked for it
    uses: int | None = None  # by the provider; not known where a response does not list them


@frozen(kw_only=True)
class ModelCalls:
    """All calls of one run, as its gateway counted them."""

    calls: int = 0  # passed on to the endpoint
    refused: int = 0  # by the gateway
    failed: int = 0  # of the calls: without a whole answer, or answered with an error
    retries: int = 0  # by the gateway
    unknown: int = 0  # calls whose response does not say what they used, or cannot be right: in none of these sums
    estimated_tokens: int = 0  # of these calls
    input_tokens: int = 0  # cached ones included
    output_tokens: int = 0  # reasoning included
    cached_tokens: int = 0  # of the input
    reasoning_tokens: int = 0  # of the output
    cost_usd: float | None = None  # of the calls whose usage is known; not known where a price is missing
    server_tools: tuple[ServerToolUse, ...] = ()  # that calls asked for, where they were allowed
    fees_usd: float | None = None  # of these, in the cost; not known where a fee is missing
    models: tuple[ModelUse, ...] = ()  # one by one
    prices: tuple[str, ...] = ()  # where they are from
    exhausted: str | None = None  # the budget that was used up
    exhausted_at: str | None = None  # when the call began that used it up

    @property
    def usage(self) -> Usage:
        """These sums as a ``Usage``."""
        known = not self.unknown or self.input_tokens + self.output_tokens > 0
        return Usage(
            models=tuple(use.model for use in self.models),
            input_tokens=self.input_tokens if known else None,
            output_tokens=self.output_tokens if known else None,
            estimated_tokens=self.estimated_tokens or None,
            cost_usd=self.cost_usd,
            measured=True,
        )
