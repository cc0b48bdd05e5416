"""What a gateway is given when it starts: one JSON object, on a pipe or in a file that only its process can read."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import SplitResult, urlsplit

import msgspec

from .budgets import Budget
from .ledger import Spent
from .routes import Rule

Count = Annotated[int, msgspec.Meta(ge=0)]
Usd = Annotated[float, msgspec.Meta(ge=0)]


class Price(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Of one model, in US dollars for a million tokens. ``input`` is for what comes from no cache."""

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
        if base.scheme not in ("http", "https") or not base.hostname or base.query or base.fragment or base.username:
            raise ValueError(f"{self.endpoint!r} is not a base URL; write it like https://api.example.com/v1")
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
        return urlsplit(self.endpoint.rstrip("/"))

    def __repr__(self) -> str:
        return f"Settings(endpoint={self.endpoint!r})"  # never the key


def read_settings(text: bytes) -> Settings:
    """Raises ValueError that says which setting is wrong, and never its value."""
    try:
        return msgspec.json.decode(text, type=Settings)
    except msgspec.MsgspecError as error:
        raise ValueError(f"the gateway's settings: {error}") from None
