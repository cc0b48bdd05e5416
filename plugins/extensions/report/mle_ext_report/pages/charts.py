"""Charts as SVG: text stays text, colours are classes of the page's style, and every text is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from attrs import frozen
from markupsafe import Markup

from mle_ext_report.pages.marks import COLOURS, series, svg
from mle_ext_report.pages.scale import Scale

_WIDTH, _HEIGHT = 640.0, 280.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 52.0, 588.0, 14.0, 236.0
_LABEL = 11.0  # the height of a label
_FITS = 6  # letters right of the chart; longer names reach into it


@frozen(kw_only=True)
class Line:
    """Points by ``x``; ``step``: a value holds until the next one."""

    name: str
    points: Sequence[tuple[float, float]]
    number: int | None = None  # of the setup: its colour
    step: bool = False


@frozen(kw_only=True)
class Point:
    """``low`` and ``high``: an interval of ``y``. ``name`` stands beside the point, ``words`` in its tooltip."""

    x: float
    y: float
    words: str
    number: int | None = None
    low: float | None = None
    high: float | None = None
    name: str = ""


def line_chart(lines: Sequence[Line], x: Scale, y: Scale, words: str = "") -> Markup:
    """Lines with their names at their ends. ``words``: what a screen reader says; default: the names of the axes."""
    lines = [line for line in lines if any(x.shows(a) and y.shows(b) for a, b in line.points)]
    x = x.fitted(a for line in lines for a, _ in line.points)
    y = y.fitted(b for line in lines for _, b in line.points)
    parts, ends = [_frame(x, y)], []
    for line in lines:
        places = [(_x(x, a), _y(y, b)) for a, b in line.points if x.shows(a) and y.shows(b)]
        first, *rest = places
        path = f"M{_round(first[0])} {_round(first[1])}" + "".join(
            f"H{_round(a)}V{_round(b)}" if line.step else f"L{_round(a)} {_round(b)}" for a, b in rest
        )
        dots = Markup("").join(_dot(a, b, 2.5) for a, b in places) if len(places) <= 50 else Markup("")
        parts.append(Markup('<g class="{}"><path class="line" d="{}"/>{}</g>').format(series(line.number), path, dots))
        ends.append((places[-1][1], line))
    parts += _end_labels(ends)
    return svg(
        "chart", _WIDTH, _HEIGHT, parts, words or f"{y.label} by {x.label}: {', '.join(line.name for line in lines)}"
    )


def scatter_chart(points: Sequence[Point], x: Scale, y: Scale, words: str = "") -> Markup:
    """Points with intervals, tooltips and names."""
    points = [point for point in points if x.shows(point.x) and y.shows(point.y)]
    x = x.fitted(point.x for point in points)
    y = y.fitted(value for point in points for value in (point.y, point.low, point.high) if value is not None)
    parts = [_frame(x, y)]
    for point in points:
        across, down = _x(x, point.x), _y(y, point.y)
        reach = Markup("")
        if point.low is not None and point.high is not None:
            ends = _round(across), _round(_y(y, point.low)), _round(_y(y, point.high))
            reach = Markup('<path class="line faint" d="M{} {}V{}"/>').format(*ends)
        name = Markup('<text x="{}" y="{}">{}</text>').format(_round(across + 7), _round(down + 3.5), point.name)
        parts.append(
            Markup('<g class="{}"><title>{}</title>{}{}{}</g>').format(
                series(point.number), point.words, reach, _dot(across, down, 4), name if point.name else ""
            )
        )
    return svg(
        "chart",
        _WIDTH,
        _HEIGHT,
        parts,
        words or f"{y.label} by {x.label}: {'; '.join(point.words for point in points)}",
    )


def _frame(x: Scale, y: Scale) -> Markup:
    """Grid, ticks, names of the axes, and marks."""
    parts = []
    for tick in x.ticks:
        at = _round(_x(x, tick))
        parts.append(Markup('<path class="grid" d="M{0} {1}V{2}"/>').format(at, _TOP, _BOTTOM))
        parts.append(_text(at, _BOTTOM + 15, x.words(tick), "middle"))
    for tick in y.ticks:
        at = _round(_y(y, tick))
        parts.append(Markup('<path class="grid" d="M{1} {0}H{2}"/>').format(at, _LEFT, _RIGHT))
        parts.append(_text(_LEFT - 6, _round(_y(y, tick) + 3.5), y.words(tick), "end"))
    for name, value in y.marks.items():
        at = _round(_y(y, value))
        parts.append(Markup('<path class="mark {0}" d="M{2} {1}H{3}"/>').format(name, at, _LEFT, _RIGHT))
        parts.append(_text(_LEFT + 4, _round(_y(y, value) - 3), name, "start"))
    parts.append(_text((_LEFT + _RIGHT) / 2, _BOTTOM + 34, x.label, "middle"))
    parts.append(
        Markup('<text class="small" transform="translate(12 {}) rotate(-90)" text-anchor="middle">{}</text>').format(
            _round((_TOP + _BOTTOM) / 2), y.label
        )
    )
    return Markup("").join(parts)


def _end_labels(ends: Sequence[tuple[float, Line]]) -> Iterable[Markup]:
    """Names right of the lines, moved apart if they would overlap; of many lines, only those with their own colour."""
    if len(ends) > COLOURS:
        ends = [end for end in ends if series(end[1].number) != series(None)]
    ends = sorted(ends, key=lambda end: end[0])
    lowest = _BOTTOM - _LABEL * (len(ends) - 1)  # so that the last one stands above the axis
    below = -_LABEL
    for number, (at, line) in enumerate(ends):
        below = max(min(at, lowest + _LABEL * number), below + _LABEL)
        anchor, x = ("start", _RIGHT + 6) if len(line.name) <= _FITS else ("end", _WIDTH - 1)
        yield Markup('<text class="{}" x="{}" y="{}" text-anchor="{}">{}</text>').format(
            series(line.number), x, _round(below + 3.5), anchor, line.name
        )


def _x(scale: Scale, value: float) -> float:
    return _LEFT + (_RIGHT - _LEFT) * scale.at(value)


def _y(scale: Scale, value: float) -> float:
    return _BOTTOM - (_BOTTOM - _TOP) * scale.at(value)


def _dot(x: float, y: float, radius: float) -> Markup:
    return Markup('<circle cx="{}" cy="{}" r="{}"/>').format(_round(x), _round(y), radius)


def _text(x: float | str, y: float | str, text: str, anchor: str) -> Markup:
    return Markup('<text class="small" x="{}" y="{}" text-anchor="{}">{}</text>').format(x, y, anchor, text)


def _round(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
