"""The chart of who won: a bar for each setup, stacked by medal, with the interval of the whole rate."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from attrs import frozen
from markupsafe import Markup

from mle_ext_report.pages.marks import series

_WIDTH, _HEIGHT = 1000.0, 20.0  # stretched to the width that there is: only boxes and lines, no text


@frozen(kw_only=True)
class Rate:
    """One rate in percent. ``words``: what a screen reader says."""

    mean: float
    words: str
    low: float | None = None
    high: float | None = None
    medals: Sequence[tuple[str, float]] = ()  # such as ("gold", 12.5), from the left; they add up to the mean
    number: int | None = None  # of the setup: its colour, where there are no medals


@frozen(kw_only=True)
class RateRow:
    """One row of the chart, for the macro ``rates``: who, the bar, and its figure in words."""

    name: str
    rate: Rate
    value: str  # such as "40.9 %"
    reach: str = ""  # its interval: "29.9 to 53.0"
    letter: str = ""  # the setup's
    small: str = ""  # version, model, options
    link: str = ""  # of the name
    evidence: str = ""  # link of the figure: what it counts
    faint: bool = False  # is it shown for comparison only?


def rate_top(rates: Iterable[Rate]) -> float:
    """Where an axis for all of these ends: a round percentage that leaves none outside."""
    highest = max((max(rate.mean, rate.high or 0.0) for rate in rates), default=0.0)
    return next((top for top in (10.0, 20.0, 40.0, 60.0, 80.0) if highest <= top), 100.0)


def rate_bar(rate: Rate, top: float = 100.0) -> Markup:
    """The bar on an axis from 0 to ``top`` percent."""
    parts = [_rect("track", 0, top, top)]
    start = 0.0
    for kind, share in rate.medals or (("plain", rate.mean),):
        if share > 0:
            parts.append(_rect(kind, start, share, top))
            start += share
    if rate.low is not None and rate.high is not None:
        low, high = _at(rate.low, top), _at(rate.high, top)
        for kind in ("halo", "reach"):  # the light line would be lost on gold
            parts.append(Markup('<path class="{2}" d="M{0} 10H{1}M{0} 6v8M{1} 6v8"/>').format(low, high, kind))
    return Markup(
        '<svg class="rate {}" viewBox="0 0 {:g} {:g}" preserveAspectRatio="none" role="img" aria-label="{}">{}</svg>'
    ).format(series(rate.number), _WIDTH, _HEIGHT, rate.words, Markup("").join(parts))


def rate_ticks(top: float = 100.0) -> list[str]:
    """The figures below an axis, at equal distances from its start to its end."""
    return [f"{share * top:g} %" for share in (0.0, 0.25, 0.5, 0.75, 1.0)]


def _rect(kind: str, start: float, share: float, top: float) -> Markup:
    left, right = _at(start, top), _at(start + share, top)
    return Markup('<rect class="{}" x="{}" y="{}" width="{}" height="{}"/>').format(
        kind, left, 2, f"{float(right) - float(left):.1f}", _HEIGHT - 4
    )


def _at(percent: float, top: float) -> str:
    return f"{_WIDTH * min(1.0, max(0.0, percent / top)):.1f}"
