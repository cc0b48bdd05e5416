"""What charts and tables share: the square of a run, the colours of setups, the frame of a drawing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from attrs import frozen
from markupsafe import Markup

SIGNS: Mapping[str, tuple[str, str]] = {
    "gold": ("G", "gold"),
    "silver": ("S", "silver"),
    "bronze": ("B", "bronze"),
    "above": ("+", "above the median"),
    "beats": ("+", "better than the sample submission"),
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
    flagged: bool = False  # by a detector


def kind(submission: str, medal: str | None, above_median: bool | None, beats_sample: bool | None) -> str:
    """The kind of a run's square. ``medal``: "none" if it earned none, None if none can be earned."""
    if medal in ("gold", "silver", "bronze"):
        return medal
    if submission == "valid":
        return "above" if above_median else "beats" if medal is None and beats_sample else "valid"
    return "failed" if submission in ("invalid", "none") else "open"


def letter(number: int) -> str:
    """What stands for the setup of this number, from 0: A ... Z, AA, AB ..."""
    return (letter(number // 26 - 1) if number >= 26 else "") + chr(ord("A") + number % 26)


def series(number: int | None) -> str:
    """The class with the colour of the setup of this number; beyond the eighth, and for None, they share a grey."""
    return f"series-{number}" if number is not None and 0 <= number < COLOURS else "series-other"


def svg(kind: str, width: float, height: float, parts: Iterable[Markup], words: str) -> Markup:
    """A drawing with its class. ``words``: what a screen reader says."""
    return Markup('<svg class="{}" viewBox="0 0 {:g} {:g}" role="img" aria-label="{}">{}</svg>').format(
        kind, width, height, words, Markup("").join(parts)
    )
