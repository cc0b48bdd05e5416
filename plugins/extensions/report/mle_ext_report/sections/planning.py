"""How many runs tell two setups apart, and which competitions stand for all: the answers to --power."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from attrs import evolve

from mle_ext_report.cells import NONE, Section, interval, section, some
from mle_ext_report.document import Document
from mlecore.util.units import counted

if TYPE_CHECKING:
    from mle_ext_report.planning.power import Power
    from mle_ext_report.planning.subsets import Subsets

_FEW = 10  # setups


def planning(document: Document) -> Iterator[Section]:
    """Nothing without --power."""
    if document.power:
        yield _power(document.power)
        yield _subsets(document.subsets)


def _power(found: Power) -> Section:
    seeds = list(dict.fromkeys(cell.seeds for cell in found.cells))
    cells = {(cell.competitions, cell.seeds): f"{cell.power:.0f} %" for cell in found.cells}
    rows = [(f"{row} competitions", *(cells[row, n] for n in seeds)) for row in dict.fromkeys(row for row, _ in cells)]
    needed = {cell.seeds: f"{cell.competitions} competitions" for cell in found.needed}
    rows.append(("80 % needs", *(needed.get(n, f"more than {found.limit}") for n in seeds)))
    header = ("DESIGN", *(counted(n, "seed").upper() for n in seeds))
    title = f"Chance to tell two setups apart by {found.points:g} points"
    return section("power", title, header, rows, _power_notes(found))


def _power_notes(found: Power) -> Iterator[str]:
    model, design = found.model, found.design
    reached = "The cheapest design that reaches 80 %" if found.needed else "No design reaches 80 %. The largest"
    yield (
        f"{reached}: {counted(design.competitions, 'competition')} with {counted(design.seeds, 'seed')}, "
        f"{counted(design.competitions * design.seeds, 'run')} per setup. Its chance is {design.power:.0f} % "
        f"({interval(found.design_range, 0)} %, as the observed runs are a sample)."
    )
    yield (
        f"A cell is the chance that a report finds p < 0.05 if one setup truly succeeds on {100 * model.low:.1f} % and "
        f"the other on {100 * model.high:.1f} % of competitions like these {found.competitions} (simulated, at most "
        f"± {max(cell.error for cell in found.cells):.0f} points)."
    )
    seeds = ""
    if model.alike_seeds is not None:
        seeds = f"two seeds of one setup ended alike in {100 * model.alike_seeds:.0f} % of cases, "
    yield (
        f"On one competition, {seeds}runs of two setups ended alike in {100 * model.alike_setups:.0f} % "
        f"({some(found.setups)}). Setups that are more alike, such as two versions of an agent, need fewer runs."
    )
    if model.alike_seeds is None:
        yield "No setup ran a competition twice, so it is unknown what more seeds are worth."


def _subsets(found: Subsets | None) -> Section:
    title = "Competitions that stand for all"
    if found is None:
        return section("subsets", title, (), (), ["Fewer than three setups: no subset can be chosen."])
    rows = []
    for row in found.found:
        cells = (NONE,) * 5
        if of := row.checked:
            optimism = row.fitted - of.correlation
            numbers = f"{optimism:.3f}", f"{of.correlation:.3f}", interval(of.interval, 3), f"{of.tau:.2f}"
            cells = (*numbers, f"{of.apart:.1f}")
        rows.append((str(len(row.ids)), f"{row.fitted:.3f}", *cells, f"{row.random:.3f}"))
    header = ("SIZE", "FITTED", "OPTIMISM", "CORRELATION", "95 % INTERVAL", "TAU", "POINTS APART", "RANDOM")
    made = section("subsets", title, header, rows, _subset_notes(found))
    ids = found.chosen.ids if found.chosen else ()
    return evolve(made, code=f"competitions = [{', '.join(map(json.dumps, ids))}]" if ids else "")


def _subset_notes(found: Subsets) -> Iterator[str]:
    if len(found.setups) < _FEW:
        yield f"Only {len(found.setups)} setups: a subset that fits these may not fit the next one."
    if not found.found:
        yield f"Too few to choose from: {counted(found.competitions, 'competition')} with results of every setup."
        return
    yield (
        f"How the rate on a subset goes with that on all {found.competitions} competitions that every setup ran. "
        "FITTED is the correlation over the setups on which the subset was chosen; CORRELATION, TAU (Kendall's, of the "
        "ranking) and POINTS APART are those of setups that were left out of the choice (which takes five). RANDOM is "
        "the mean correlation of random subsets."
    )
    chosen = found.chosen
    if not (chosen and chosen.checked):
        yield f"None is recommended: no correlation of {found.level:g} is shown for setups on which it was not chosen."
        return
    if chosen.random >= chosen.checked.correlation:
        yield "Random subsets of this size do as well: here their size matters, not the choice."
    yield (
        f"The smallest with a correlation of {found.level:g} has {len(chosen.ids)}. Rates on it are "
        f"{chosen.checked.apart:.1f} points apart from those on all, so compare them with each other only. For a plan:"
    )
