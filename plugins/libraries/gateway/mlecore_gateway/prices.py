"""What tokens and the provider's tools cost: by the plan's prices, else by genai-prices, else unknown."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from functools import cache
from pathlib import Path

from .calls import Tokens
from .server_tools import is_tool
from .settings import Price

_UNITS = {
    "web_search": ("web_searches", "web_searches_kcount"),
    "google_search": ("web_searches", "web_searches_kcount"),
    "file_search": ("storage_searches", "storage_searches_kcount"),
    "code_interpreter": ("code_executions", "code_executions_kcount"),
    "code_execution": ("code_executions", "code_executions_kcount"),
}  # tool -> its names in genai-prices: as usage, and as a price
_FREE = ("web_fetch", "mcp")  # only their tokens cost (price lists of Anthropic and OpenAI, November 2026)


class Prices:
    """For one endpoint."""

    def __init__(self, endpoint: str, given: dict[str, Price], fees: dict[str, float] | None = None) -> None:
        """``fees``: US dollars for one use of a provider's tool."""
        self._endpoint = endpoint
        self._given = given
        self._fees = fees or {}

    def cost(self, models: tuple[str | None, ...], tokens: Tokens, tier: str | None = None) -> tuple[float, str] | None:
        """US dollars by the first of ``models`` whose price is known, and where that price is from.

        ``tier``: the service tier that the response names; some cost more.
        """
        for model in filter(None, models):
            if (price := self._given.get(model)) is not None:
                return _by_plan(price, tokens), "the plan"
        for model in filter(None, models):
            if (found := _by_list(self._endpoint, model, tokens, tier)) is not None:
                return found
        return None

    def highest(self, models: tuple[str, ...], tokens: Tokens) -> float:
        """US dollars that so many tokens cost at most: by the dearest model, and with all input written to a cache."""
        written = Tokens(input=tokens.input, output=tokens.output, cache_write=tokens.input)
        costs = [self.cost((model,), each) for model in models for each in (tokens, written)]
        return max((cost[0] for cost in costs if cost is not None), default=0.0)

    def fee(self, models: tuple[str | None, ...], tool: str, uses: int) -> tuple[float, str] | None:
        """US dollars for so many uses of a provider's tool, beside their tokens."""
        if tool in self._fees:
            return self._fees[tool] * uses, "the plan"
        if tool in _FREE or not is_tool(tool):
            return 0.0, ""
        if tool in _UNITS:
            for model in filter(None, models):
                if (found := _fee_by_list(self._endpoint, model, *_UNITS[tool], uses)) is not None:
                    return found
        return None


def _by_plan(price: Price, tokens: Tokens) -> float:
    plain = tokens.input - tokens.cached - tokens.cache_write
    cached = price.input if price.cached is None else price.cached
    written = price.input if price.cache_write is None else price.cache_write
    millions = (
        plain * price.input + tokens.cached * cached + tokens.cache_write * written + tokens.output * price.output
    )
    return millions / 1e6


def _by_list(endpoint: str, model: str, tokens: Tokens, tier: str | None) -> tuple[float, str] | None:
    from genai_prices import Usage, calc_price

    usage = Usage(
        input_tokens=tokens.input,
        output_tokens=tokens.output,
        cache_read_tokens=tokens.cached,
        cache_write_tokens=tokens.cache_write,
    )
    context = {"service_tier": tier} if tier else None
    for url, how in ((endpoint, ""), (None, ", by the model's name alone")):
        try:
            found = calc_price(usage, model, price_context=context, provider_api_url=url)
        except (LookupError, ValueError):
            continue
        return float(found.total_price), f"{source()}: {found.provider.id}/{found.model.id}{how}"
    return None


def _fee_by_list(endpoint: str, model: str, used: str, price: str, uses: int) -> tuple[float, str] | None:
    from genai_prices import Usage, calc_price

    for url in (endpoint, None):
        try:
            found = calc_price(Usage(**{used: uses}), model, provider_api_url=url)
        except (LookupError, ValueError):
            continue
        if getattr(found.model_price, price, None) is not None:  # else it would be taken for free
            return float(found.total_price), source()
    return None


@cache
def source() -> str:
    """genai-prices, its version and the newest date that its data name (they have no date themselves)."""
    import genai_prices.data

    text = Path(genai_prices.data.__file__).read_text(encoding="utf-8")
    today = datetime.now(UTC).date()
    dates = {*re.findall(r"20\d\d-[01]\d-[0-3]\d", text)}
    for year, month, day in re.findall(r"date\((20\d\d), (\d+), (\d+)\)", text):
        dates.add(f"{year}-{int(month):02}-{int(day):02}")
    known = [found for found in dates if found <= today.isoformat() and _is_date(found)]
    return f"genai-prices {genai_prices.__version__} (data as of {max(known, default='?')})"


def _is_date(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True
