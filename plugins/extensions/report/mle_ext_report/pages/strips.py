"""The scores of one competition on one line: from the sample submission over median and medals to the best human.

Competitions have metrics and scales of all kinds, so scores are placed between thresholds: the thresholds lie at equal
distances, and a score in proportion between the two next to it. So all competitions share one scale, and a medal is
where its colour is.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from attrs import frozen
from markupsafe import Markup

from mle_ext_report.pages.marks import series, svg

_STEPS = ("sample", "median", "bronze", "silver", "gold", "best")
_BANDS = {"median": "above", "bronze": "bronze", "silver": "silver", "gold": "gold"}
_START, _END = -0.5, 5.5  # worse than the sample, better than the best human
_WIDTH, _HEIGHT, _MARGIN, _MIDDLE = 560.0, 16.0, 28.0, 8
_WIDE = (_WIDTH - 2 * _MARGIN) / (_END - _START)  # of one step


@frozen(kw_only=True)
class Axis:
    """Scores of the sample submission, the thresholds and the best human. None: unknown, or there is none."""

    sample: float | None
    median: float | None = None
    bronze: float | None = None
    silver: float | None = None
    gold: float | None = None
    best: float | None = None
    lower_is_better: bool = False


@frozen(kw_only=True)
class Dot:
    """One run's score."""

    score: float
    words: str
    number: int | None = None  # of the setup: its colour


def place(axis: Axis, score: float) -> float:
    """Where a score lies: 0 at the sample, 1 at the median, then bronze, silver, gold, and 5 at the best human.

    Worse than the first threshold known is -0.5, better than the last one 0.5 beyond it. A threshold that is no better
    than the one before it (a sample submission may beat the median) takes the place of both.
    """
    sign = -1.0 if axis.lower_is_better else 1.0
    steps: list[tuple[float, float]] = []
    for number, name in enumerate(_STEPS):
        value = getattr(axis, name)
        if value is None or not math.isfinite(value):
            continue
        while steps and steps[-1][1] >= sign * value and steps[-1][0] == 0:
            steps.pop()  # the sample
        steps.append((float(number), sign * value))
    if not steps or math.isnan(score):
        return -0.5
    found = sign * score
    if found < steps[0][1]:
        return steps[0][0] - 0.5
    for (at, value), (after, next_value) in itertools.pairwise(steps):
        if found < next_value:
            return at + (after - at) * (found - value) / (next_value - value)
    return steps[-1][0] + (0.5 if found > steps[-1][1] else 0.0)


def score_strip(axis: Axis, dots: Sequence[Dot], words: str = "") -> Markup:
    """The line with its medals as bands. ``words``: what a screen reader says; default: the words of all dots."""
    parts = [_bands(axis)]
    for number, dot in enumerate(dots):
        parts.append(
            Markup('<circle class="{}" cx="{}" cy="{}" r="3"><title>{}</title></circle>').format(
                series(dot.number), _at(place(axis, dot.score)), _MIDDLE + (number % 3 - 1) * 3, dot.words
            )
        )
    return svg("strip", _WIDTH, _HEIGHT, parts, words or "; ".join(dot.words for dot in dots))


def strip_scale(medals: bool, best: str = "best human") -> Markup:
    """The names of the steps, to show above strips; without medals there are two: the sample and the best run."""
    steps = enumerate(_STEPS) if medals else ((0, "sample"), (5, "best run"))
    names = {"best": best}
    parts = [
        Markup('<text x="{}" y="11" text-anchor="middle">{}</text>').format(_at(at), names.get(name, name))
        for at, name in steps
    ]
    words = f"sample, median, bronze, silver, gold, {best}" if medals else "sample, best run"
    return svg("strip", _WIDTH, _HEIGHT, parts, words)


def _bands(axis: Axis) -> Markup:
    known = [(number, name) for number, name in enumerate(_STEPS) if getattr(axis, name) is not None]
    parts = []
    for number, name in known:
        if name in _BANDS:
            end = next((other for other, _ in known if other > number and other < len(_STEPS) - 1), _END)
            parts.append(
                Markup('<rect class="{}" x="{}" y="1" width="{}" height="{}"/>').format(
                    _BANDS[name], _at(number), f"{_WIDE * (end - number):.1f}", _HEIGHT - 2
                )
            )
    parts.append(Markup('<path class="axis" d="M{} {}H{}"/>').format(_at(_START), _MIDDLE, _at(_END)))
    for number, name in known:
        at = _at(place(axis, getattr(axis, name)) if name == "sample" else number)
        parts.append(Markup('<path class="axis" d="M{} 1V{}"/>').format(at, _HEIGHT - 1))
    return Markup("").join(parts)


def _at(place: float) -> str:
    return f"{_MARGIN + _WIDE * (place - _START):.1f}"
