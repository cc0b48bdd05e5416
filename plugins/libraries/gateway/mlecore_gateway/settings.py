"""What a gateway is given when it starts: one JSON object, on a pipe or in a file that only its process can read."""

from __future__ import annotations

import re
from typing import Annotated
from urllib.parse import SplitResult, urlsplit

import msgspec

from .budgets import Budget
from .ledger import Spent
from .routes import Rule

Count = Annotated[int, msgspec.Meta(ge=0)]
Usd = Annotated[float, msgspec.Meta(ge=0)]


class Price(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One model's price, in US dollars per million tokens. ``input`` is for tokens that come from no cache."""

    input: Usd
    output: Usd
    cached: Usd | None = None  # read from the provider's cache; None: as ``input``
    cache_write: Usd | None = None  # None: as ``input``


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The settings of one run's gateway."""

    endpoint: str  # base URL of the model; only paths below it can be reached
    token: str  # by which the agent is known; worthless elsewhere
    key: str = ""  # the real one; empty if the endpoint wants none
    models: tuple[str, ...] = ()  # that may be called
    any_model: bool = False  # others too
    allow: tuple[str, ...] = ()  # "POST /v1/images/*": calls that are forwarded beside those of the model
    server_tools: bool = False  # may the provider run tools, and keep conversations?
    budgets: tuple[str, ...] = ()
    spent: Spent = msgspec.field(default_factory=Spent)  # of these, before this gateway's own log begins
    prices: dict[str, Price] = {}
    fees: dict[str, Usd] = {}  # of one use of a provider's tool
    retries: Count = 0  # of a call that the endpoint answered with 429 or 5xx
    max_calls: Annotated[int, msgspec.Meta(ge=1)] | None = None  # at once, over all gateways that share ``slots``
    slots: str | None = None  # the folder they share
    transcripts: bool = False
    proxy: str | None = None  # the proxy to the endpoint
    ca: str | None = None  # PEM text of certificates to trust besides the usual ones

    def __post_init__(self) -> None:
        base = self.base
        named = base.scheme in ("http", "https") and base.hostname and base.port != 0
        if not named or base.fragment or "@" in base.netloc:
            raise ValueError("the endpoint is not a base URL")
        if base.query and not re.fullmatch(r"api-version=[\w.-]+", base.query, re.ASCII):
            raise ValueError("the endpoint has a query; a base URL may only have Azure's api-version=...")
        if not self.token or not self.token.isascii() or not self.token.isprintable():
            raise ValueError("the token must be printable ASCII")
        if not self.key.isascii() or not self.key.isprintable():
            raise ValueError("the key must be printable ASCII")
        for text in self.budgets:
            Budget.parse(text)
        for text in self.allow:
            Rule.parse(text)

    @property
    def rules(self) -> tuple[Rule, ...]:
        return tuple(map(Rule.parse, self.allow))

    @property
    def base(self) -> SplitResult:
        url = urlsplit(self.endpoint)
        return url._replace(path=url.path.rstrip("/"))

    def with_query(self, target: str) -> str:
        """A path and query below the base URL, with the base URL's query where the target has none of its own."""
        query = self.base.query
        if not query or re.search(r"[?&]api-version=", target):
            return target
        return f"{target}{'&' if '?' in target else '?'}{query}"

    def __repr__(self) -> str:
        return f"Settings(endpoint={self.endpoint!r})"  # never the key


def read_settings(text: bytes) -> Settings:
    """Raises ValueError that says which setting is wrong, and never its value."""
    try:
        return msgspec.json.decode(text, type=Settings)
    except msgspec.MsgspecError as error:
        raise ValueError(f"the gateway's settings: {error}") from None
