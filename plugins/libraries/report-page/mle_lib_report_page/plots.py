"""The page's plots: matplotlib's SVG with the page's colours, so that they follow dark mode."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING

from matplotlib import rc_context
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from mlecore.reports.cells import RATE_NAMES, one_line, score
from mlecore.reports.compare import Comparison
from mlecore.reports.document import Document, RunLine, SetupSummary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_INK, _MUTED, _GRID = "#010101", "#010102", "#010103"
_SERIES = tuple(f"#0102{number:02x}" for number in range(6))
_COLOURS = {
    _INK: "var(--ink)",
    _MUTED: "var(--muted)",
    _GRID: "var(--grid)",
    **{colour: f"var(--series-{number})" for number, colour in enumerate(_SERIES)},
}
_STYLE = {
    "svg.fonttype": "none",  # text stays text: small, searchable, in the page's font
    "svg.hashsalt": "mlecore",  # the same report gives the same bytes
    "font.size": 9,
    "text.color": _INK,
    "axes.edgecolor": _MUTED,
    "axes.labelcolor": _INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "xtick.color": _INK,
    "ytick.color": _INK,
    "grid.color": _GRID,
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "path.simplify": True,
}
_WIDTH = 7.6  # inches


def draw(document: Document) -> dict[str, str]:
    """Name -> SVG of each plot that there are figures for."""
    found: dict[str, str] = {}
    with rc_context(_STYLE):
        shown = [setup for setup in document.setups if setup.averaged]
        if any(_main_rates(setup) for setup in shown):
            found["headline"] = _headline(shown)
        for split in ("low", "medium", "high", None):
            rows = _by_competition(document.setups, split)
            if rows:
                found[f"positions-{split or 'other'}"] = _positions(document.setups, rows, split)
        if any(setup.progress for setup in shown):
            found["progress"] = _progress([setup for setup in shown if setup.progress])
        for number, comparison in enumerate(document.comparisons):
            if comparison.differences and any(pair.difference or pair.a_wins != 0.5 for pair in comparison.pairs):
                found[f"comparison-{number}"] = _comparison(comparison, number)
        if document.setups:
            found["results"] = _results(document.setups)
        if document.published:
            found["published"] = _published(document)
    return found


def _short(text: str, length: int) -> str:
    text = one_line(text)
    return text if len(text) <= length else f"{text[: length - 1]}…"


def _colour(number: int) -> str:
    return _SERIES[number % len(_SERIES)]


def _key_number(key: str) -> int:
    """ "A" -> 0: a setup has the same colour in every plot."""
    number = 0
    for letter in key:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number - 1


def _main_rates(setup: SetupSummary) -> dict[str, tuple[float, tuple[float, float] | None]]:
    """Split -> (rate, interval) of the setup's goal."""
    found = {}
    for row in setup.rates:
        rate = row.rates.rates[setup.goal]
        if rate is not None:
            found[row.rates.split] = (rate.mean, row.intervals[setup.goal])
    return found


def _headline(setups: Sequence[SetupSummary]) -> str:
    names = [
        name
        for name in ("Low", "Medium", "High", "All", "these")
        if any(name in _main_rates(setup) for setup in setups)
    ]
    figure, axes = _figure(0.28 * len(names) * max(1, len(setups)))
    for number, setup in enumerate(setups):
        colour = _colour(_key_number(setup.key))
        offset = (number - (len(setups) - 1) / 2) * 0.7 / len(setups)
        for row, name in enumerate(names):
            if (found := _main_rates(setup).get(name)) is None:
                continue
            mean, interval = found
            if interval:
                axes.plot(interval, [row + offset] * 2, color=colour, linewidth=1.6, alpha=0.6)
            axes.plot([mean], [row + offset], "o", color=colour, markersize=6)
            axes.annotate(
                f"{setup.key} {mean:.1f}", (mean, row + offset), (0, 5), textcoords="offset points", ha="center", size=7
            )
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.4, -0.7)
    axes.set_xlim(-2, 104)
    kinds = {RATE_NAMES[setup.goal] for setup in setups}
    axes.set_xlabel(f"{' or '.join(sorted(kinds))}, % of competitions; bars: 95 % interval over competitions")
    axes.grid(axis="x")
    return _svg(figure, "headline", "Rates by split with their intervals")


def _by_competition(setups: Sequence[SetupSummary], split: str | None) -> dict[str, list[tuple[SetupSummary, int]]]:
    """Competition -> (setup, index of the run) of runs that have a position; ``split`` None: of no split of three."""
    found: dict[str, list[tuple[SetupSummary, int]]] = {}
    for setup in setups:
        for index, line in enumerate(setup.runs):
            of = line.split if line.split in ("low", "medium", "high") else None
            if line.position is not None and of == split:
                found.setdefault(line.competition, []).append((setup, index))
    return dict(sorted(found.items()))


def _positions(
    setups: Sequence[SetupSummary], rows: Mapping[str, list[tuple[SetupSummary, int]]], split: str | None
) -> str:
    figure, axes = _figure(0.2 * len(rows), labels=2.6)
    titles: dict[str, str] = {}
    marks: dict[str, list[tuple[float, int]]] = {"median": [], "bronze": [], "silver": []}
    for row, runs in enumerate(rows.values()):
        line = runs[0][0].runs[runs[0][1]]
        for name, place in line.marks.items():
            marks[name].append((place, row))
    for (name, points), height in zip(marks.items(), (5, 7, 9), strict=True):
        if points:
            axes.plot(*zip(*points, strict=True), "|", color=_MUTED, markersize=height, label=name)
    for setup in setups:
        x, y, links = [], [], []
        mine = [(row, index) for row, runs in enumerate(rows.values()) for of, index in runs if of.key == setup.key]
        spread: dict[int, int] = {}
        for row, index in mine:
            found = setup.runs[index]
            nth = spread[row] = spread.get(row, -1) + 1
            x.append(found.position or 0.0)
            y.append(row + (nth % 3 - 1) * 0.16)
            link = f"#run-{setup.key}-{index}"
            links.append(link)
            titles[link] = _words(setup, found)
        if x:
            dots = axes.scatter(x, y, s=16, color=_colour(_key_number(setup.key)), alpha=0.75, linewidths=0, zorder=3)
            dots.set_urls(links)
            axes.plot([], [], "o", color=_colour(_key_number(setup.key)), label=setup.key, markersize=4)
    axes.set_yticks(range(len(rows)), [_short(competition, 44) for competition in rows])
    axes.tick_params(axis="y", labelsize=7, length=0)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_xlim(-0.03, 1.03)
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["sample", "", "half-way", "", "gold"])
    axes.grid(axis="both")
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=8, fontsize=7, handletextpad=0.2, columnspacing=1)
    name = f"positions-{split or 'other'}"
    return _svg(figure, name, "Each run's score between the sample submission and gold", titles)


def _words(setup: SetupSummary, line: RunLine) -> str:
    return one_line(f"{setup.key}, {line.competition}, seed {line.column}: {score(line)}")


def _progress(setups: Sequence[SetupSummary]) -> str:
    figure, axes = _figure(2.0)
    for setup in setups:
        values = [getattr(at, setup.goal) or 0.0 for at in setup.progress]
        hours = [at.seconds / 3600 for at in setup.progress]
        label = f"{setup.key}, {RATE_NAMES[setup.goal]}"
        axes.plot(hours, values, "o-", color=_colour(_key_number(setup.key)), markersize=4, label=label)
    axes.set_xlabel("hours since the start")
    axes.set_ylabel("% of runs")
    axes.set_ylim(bottom=0)
    axes.grid()
    axes.legend(fontsize=8)
    return _svg(figure, "progress", "Rates over time")


def _comparison(comparison: Comparison, number: int) -> str:
    a, b = comparison.a.split(":")[0], comparison.b.split(":")[0]
    pairs = sorted(comparison.pairs, key=lambda pair: (pair.a_wins, pair.difference))
    figure, axes = _figure(0.15 * len(pairs), labels=2.6)
    colours = [_colour(_key_number(a if pair.a_wins >= 0.5 else b)) for pair in pairs]
    axes.barh(range(len(pairs)), [2 * pair.a_wins - 1 for pair in pairs], color=colours, alpha=0.75, height=0.7)
    axes.set_yticks(range(len(pairs)), [_short(pair.competition, 44) for pair in pairs])
    axes.tick_params(axis="y", labelsize=6.5, length=0)
    axes.set_ylim(-0.7, len(pairs) - 0.3)
    axes.set_xlim(-1.02, 1.02)
    axes.set_xticks([-1, -0.5, 0, 0.5, 1], [f"{b} wins", "", "even", "", f"{a} wins"])
    axes.axvline(0, color=_MUTED, linewidth=0.8)
    axes.grid(axis="x")
    return _svg(figure, f"comparison-{number}", f"How likely a run of {a} beats one of {b}, by competition")


_RESULTS = {
    "valid": ("valid", "#010301"),
    "invalid": ("invalid", "#010302"),
    "none": ("no submission", "#010303"),
    "not graded": ("not graded", "#010304"),
    "not run": ("not run", "#010305"),
}
_COLOURS |= {
    colour: f"var(--{name})"
    for (_, colour), name in zip(_RESULTS.values(), ("above", "failed", "bronze", "gold", "silver"), strict=True)
}


def _results(setups: Sequence[SetupSummary]) -> str:
    figure, axes = _figure(0.35 * len(setups))
    for row, setup in enumerate(setups):
        known = [line.submission if line.submission in _RESULTS else "not run" for line in setup.runs]
        left = 0
        for kind, (name, colour) in _RESULTS.items():
            if count := known.count(kind):
                label = "" if name in axes.get_legend_handles_labels()[1] else name
                axes.barh([row], [count], left=left, color=colour, height=0.6, label=label or None)
                if count > 0.03 * len(setup.runs):
                    axes.text(left + count / 2, row, str(count), ha="center", va="center", size=7)
            left += count
    axes.set_yticks(range(len(setups)), [setup.key for setup in setups])
    axes.set_ylim(len(setups) - 0.5, -0.5)
    axes.set_xlabel("runs")
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=5, fontsize=7)
    return _svg(figure, "results", "Results of the runs")


def _published(document: Document) -> str:
    lines: list[tuple[float, float, str, str]] = []
    for entry in document.published:
        mean, sem = entry.rates["all"]
        lines.append((mean, sem, _short(f"{entry.agent}, {entry.models}", 56), _MUTED))
    for own in document.own:
        if "all" in own.rates:
            rate = own.rates["all"]
            lines.append(
                (rate.mean, rate.sem or 0.0, _short(f"→ {own.key}: {own.title}", 56), _colour(_key_number(own.key)))
            )
    lines.sort()
    figure, axes = _figure(0.17 * len(lines), labels=3.2)
    for row, (mean, sem, _, colour) in enumerate(lines):
        axes.plot([mean - sem, mean + sem], [row, row], color=colour, linewidth=1.4)
        axes.plot([mean], [row], "o", color=colour, markersize=4)
    axes.set_yticks(range(len(lines)), [label for _, _, label, _ in lines])
    axes.tick_params(axis="y", labelsize=7, length=0)
    axes.set_ylim(-0.7, len(lines) - 0.3)
    axes.set_xlim(0, 100)
    axes.set_xlabel("any medal, % of all 75 competitions; bars: ± one standard error over seeds")
    axes.grid(axis="both")
    return _svg(figure, "published", "The published leaderboard with these runs in it")


def _figure(rows: float, labels: float = 0.7) -> tuple[Figure, Axes]:
    """``rows`` is the height of the axes, ``labels`` the room left of them, in inches.

    Laid out by hand: matplotlib's own layout engines draw everything twice.
    """
    below, above = 0.5, 0.3
    height = rows + below + above
    figure = Figure(figsize=(_WIDTH, height))
    FigureCanvasSVG(figure)
    return figure, figure.add_axes((labels / _WIDTH, below / height, 1 - (labels + 0.2) / _WIDTH, rows / height))


def _svg(figure: Figure, name: str, label: str, titles: Mapping[str, str] | None = None) -> str:
    """The figure for inlining: its own ids, the page's colours and font, a label, titles on links."""
    out = io.StringIO()
    figure.savefig(
        out, format="svg", transparent=True, metadata={"Date": None, "Creator": None, "Format": None, "Type": None}
    )
    text = out.getvalue()
    text = text[text.index("<svg") :]
    for colour, variable in _COLOURS.items():
        text = text.replace(colour, variable)
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.S)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.S)
    text = re.sub(r'\bid="', f'id="{name}-', text)
    text = re.sub(r'(xlink:href="#|url\(#)(?!run-)', rf"\1{name}-", text)
    text = re.sub(r"font: (?:[\w.]+ )*?([\d.]+)px [^;\"]*", r"font-size: \1px", text)
    text = text.replace("xlink:href", "href").replace(' target="_blank"', "")  # its links stay on the page
    for link, title in (titles or {}).items():
        text = text.replace(f'<a href="{link}">', f'<a href="{link}"><title>{escape(title)}</title>')
    text = re.sub(r"\n\s*", "\n", text)
    head = f'<svg role="{"group" if titles else "img"}" aria-label="{escape(label)}" class="plot"'
    return re.sub(r'<svg (?:xmlns:xlink="[^"]*" )?', head + " ", text, count=1)
