"""Values as the cells of a table show them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from mlecore.printable import printable
from mlecore.reports.document import RunLine
from mlecore.reports.rates import Rate
from mlecore.reports.statistics import Interval

RATE_NAMES = {
    "any_medal": "any medal",
    "gold": "gold",
    "silver": "silver",
    "bronze": "bronze",
    "above_median": "above median",
    "valid": "valid",
    "made": "made",
    "beats_sample": "beats sample",
}
NONE = "-"


def score(line: RunLine) -> str:
    if line.score is not None:
        return f"{line.score:.5f}"
    return line.score_text or NONE


def threshold(value: float | None) -> str:
    """As short as possible, exact to five digits."""
    if value is None:
        return NONE
    return f"{value:.5g}" if abs(value) >= 1e5 else f"{value:.5f}".rstrip("0").rstrip(".")


def number(value: float | None, digits: int) -> str:
    return NONE if value is None or math.isnan(value) else f"{value:.{digits}f}"


def quantity(value: float | None) -> str:
    """Three significant digits below 100, whole with separators above."""
    return NONE if value is None else f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def rate(value: Rate | None) -> str:
    return NONE if value is None else str(value)


def out_of(count: int, planned: int) -> str:
    """Such as "7 of 9", or "9" where that is all."""
    return str(count) if count == planned else f"{count} of {planned}"


def some(names: Sequence[str], most: int = 5) -> str:
    """The first ones, and how many more there are."""
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def p_value(value: float) -> str:
    return f"{value:.4f}" if value >= 0.0001 else "< 0.0001"


def interval(value: Interval | None, digits: int = 1) -> str:
    return NONE if value is None else f"{value[0]:.{digits}f} to {value[1]:.{digits}f}"


def one_line(text: str) -> str:
    """Printable, and on one line: what agents and detectors say may have several."""
    return printable(" ".join(text.split()))
