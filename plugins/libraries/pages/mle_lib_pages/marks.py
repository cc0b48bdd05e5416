"""What a run earned as a coloured square, and the colours of setups."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import frozen

SIGNS: Mapping[str, tuple[str, str]] = {
    "gold": ("G", "gold"),
    "silver": ("S", "silver"),
    "bronze": ("B", "bronze"),
    "above": ("+", "above the median, or better than the sample submission"),
    "valid": ("·", "valid"),
    "failed": ("×", "no valid submission"),
    "open": ("?", "no result"),
    "running": ("▸", "running"),
}
"""Kind of square -> its sign, and what that means. Colour alone would say nothing to many readers and printers."""

COLOURS = 8


@frozen(kw_only=True)
class Square:
    """One run. ``words`` say what it earned."""

    kind: str
    words: str
    link: str | None = None


def series(number: int | None) -> str:
    """The class with the colour of the setup of this number; beyond the eighth, and for None, they share a grey."""
    return f"series-{number}" if number is not None and 0 <= number < COLOURS else "series-other"
