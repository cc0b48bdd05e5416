"""From values to places along an axis, and the ticks of that axis."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from attrs import evolve, field, frozen


@frozen(kw_only=True)
class Scale:
    """One axis. ``unit`` is added to its ticks' labels; ``marks`` are lines across the chart with their names.

    Without ``low`` and ``high`` it is as long as the values need. A logarithmic one shows positive values only.
    """

    label: str
    low: float | None = None
    high: float | None = None
    log: bool = False
    unit: str = ""
    ticks: Sequence[float] = ()
    marks: Mapping[str, float] = field(factory=dict)

    def fitted(self, values: Iterable[float]) -> Scale:
        """The scale with both ends and ticks."""
        known = [value for value in (*values, *self.marks.values()) if self._shows(value)]
        low = self.low if self.low is not None else min(known, default=1.0 if self.log else 0.0)
        high = self.high if self.high is not None else max(known, default=low)
        if low >= high:
            low, high = (low / 2, high * 2) if self.log else (low if self.low is not None else low - 0.5, low + 0.5)
        if self.log:
            low, high = (low / 1.2 if self.low is None else low), (high * 1.2 if self.high is None else high)
        ticks = self.ticks or (_log_ticks(low, high) if self.log else _ticks(low, high))
        if self.low is None and not self.log:
            low = min([low, *ticks])
        if self.high is None and not self.log:
            high = max([high, *ticks])
        return evolve(self, low=low, high=high, ticks=[tick for tick in ticks if low <= tick <= high])

    def at(self, value: float) -> float:
        """From 0 (low) to 1 (high), cut off at both ends. Both must be set."""
        assert self.low is not None and self.high is not None
        low, high, value = (
            (math.log(x) for x in (self.low, self.high, value)) if self.log else (self.low, self.high, value)
        )
        return min(1.0, max(0.0, (value - low) / (high - low)))

    def shows(self, *values: float) -> bool:
        return all(map(self._shows, values))

    def _shows(self, value: float) -> bool:
        return math.isfinite(value) and (value > 0 or not self.log)

    def words(self, tick: float) -> str:
        return f"{tick:,.10g}{self.unit}"


def _ticks(low: float, high: float) -> list[float]:
    """About five round numbers from at most ``low`` to at least ``high``."""
    rough = (high - low) / 5
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(size * factor for factor in (1, 2, 5, 10) if size * factor >= rough * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(number * step, 12) for number in range(first, last + 1)]


def _log_ticks(low: float, high: float) -> list[float]:
    """1, 2, 5, 10 ...; powers of ten where those would be too many."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    factors = (1, 2, 5) if len(powers) <= 3 else (1,)
    return [factor * 10.0**power for power in powers for factor in factors]
