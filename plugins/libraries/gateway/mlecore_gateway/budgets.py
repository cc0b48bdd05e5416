"""Budgets: how much a run may spend on its models, in US dollars, tokens or calls."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from .ledger import Spent

Unit = Literal["usd", "tok", "calls"]
_TIMES = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9}
_FORM = re.compile(r"(\d+(?:\.\d+)?)\s*(?:([kmg]?)\s*(tok(?:ens?)?|calls?)|usd)", re.IGNORECASE)


class Budget(NamedTuple):
    """One limit. Tokens are those in and out, cached ones included; calls are those passed on to the endpoint."""

    amount: float
    unit: Unit
    text: str

    @classmethod
    def parse(cls, text: str) -> Budget:
        """From ``5usd``, ``2Mtok`` or ``500calls``. Raises ValueError."""
        match = _FORM.fullmatch(text.strip())
        if not match or not float(match[1]):
            raise ValueError(f"{text!r} is not a budget; write it like 5usd, 2Mtok or 500calls")
        number, times, counted = match.groups()
        unit: Unit = "usd" if counted is None else "tok" if counted.lower().startswith("tok") else "calls"
        return cls(float(number) * _TIMES[(times or "").lower()], unit, text.strip())

    def part_of(self, spent: Spent) -> float:
        """What counts towards it."""
        return {"usd": spent.usd, "tok": spent.tokens, "calls": spent.calls}[self.unit]
