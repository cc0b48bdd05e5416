"""How many runs tell two setups apart, and which competitions stand for all: the answers to --power."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from attrs import evolve

from mle_ext_report.cells import NONE, Section, interval, section, some
from mle_ext_report.document import Document
from mle_ext_report.headline import RATES
from mlecore.util.units import counted

if TYPE_CHECKING:
    from mle_ext_report.planning.power import Power
    from mle_ext_report.planning.subsets import Subsets

_FEW = 10  # setups


def planning(document: Document) -> Iterator[Section]:
    """Nothing without --power."""
    if document.power:
        rate = next(RATES[setup.goal] for setup in document.setups if setup.key in document.power.setups)
        yield _power(document.power, rate)
        yield _subsets(document.subsets, rate)


def _power(found: Power, rate: str) -> Section:
    rows: dict[int, list[str]] = {}
    for cell in found.cells:
        rows.setdefault(cell.competitions, [f"{cell.competitions} competitions"]).append(f"{cell.power:.0f} %")
    fewest = {cell.seeds: str(cell.competitions) for cell in found.needed}
    seeds = list(dict.fromkeys(cell.seeds for cell in found.cells))
    needed = ["needed for 80 %", *(fewest.get(number, f"> {found.limit}") for number in seeds)]
    header = ("PLAN", *(counted(number, "seed").upper() for number in seeds))
    title = f"Chance to tell two setups apart whose {rate}s differ by {found.points:g} points"
    return section("power", title, header, [*rows.values(), needed], _power_notes(found, rate))


def _power_notes(found: Power, rate: str) -> Iterator[str]:
    model, design = found.model, found.design
    if len(found.setups) < _FEW:
        yield f"Only {len(found.setups)} setups: others may be more alike, or less. Ten or more give a safer estimate."
    reached = "The cheapest plan with a chance of 80 %" if found.needed else "No plan reaches 80 %. The largest"
    yield (
        f"{reached}: {counted(design.competitions, 'competition')} with {counted(design.seeds, 'seed')}, "
        f"{counted(design.competitions * design.seeds, 'run')} per setup. Its chance is {design.power:.0f} %, with a "
        f"95 % interval of {interval(found.design_range, 0)} %, as it is estimated from a sample of competitions."
    )
    yield (
        f"A cell is the chance that a report finds the difference (p < 0.05) between two setups with true {rate}s of "
        f"{100 * model.low:.1f} % and {100 * model.high:.1f} % on competitions like these {found.competitions}. It is "
        f"simulated, to ± {max(cell.error for cell in found.cells):.0f} points or better."
    )
    seeds = "No setup ran a competition twice, so it is unknown what more seeds are worth."
    if model.alike_seeds is not None:
        seeds = f"Two seeds of one setup ended alike in {100 * model.alike_seeds:.0f} %."
    yield (
        "On one competition, runs of two setups ended alike, both with success or both without, in "
        f"{100 * model.alike_setups:.0f} % of cases ({some(found.setups)}). {seeds} Setups that are more alike, such "
        "as two versions of an agent, need fewer runs."
    )


def _subsets(found: Subsets | None, rate: str) -> Section:
    title = "Competitions that stand for all"
    if found is None:
        return section("subsets", title, (), (), ["Fewer than three setups: no subset can be chosen."])
    rows = []
    for row in found.found:
        cells = (NONE,) * 4
        if of := row.checked:
            cells = f"{of.correlation:.3f}", interval(of.interval, 3), f"{of.tau:.2f}", f"{of.apart:.1f}"
        rows.append((str(len(row.ids)), f"{row.fitted:.3f}", *cells, f"{row.random:.3f}"))
    header = ("SIZE", "FITTED", "CORRELATION", "95 % INTERVAL", "TAU", "POINTS APART", "RANDOM")
    made = section("subsets", title, header, rows, _subset_notes(found, rate))
    ids = found.chosen.ids if found.chosen else ()
    return evolve(made, code=f"competitions = [{', '.join(map(json.dumps, ids))}]" if ids else "")


def _subset_notes(found: Subsets, rate: str) -> Iterator[str]:
    if len(found.setups) < _FEW:
        yield f"Only {len(found.setups)} setups: a subset that fits these may not fit the next one."
    if not found.found:
        yield f"Too few to choose from: {counted(found.competitions, 'competition')} with results of every setup."
        return
    yield (
        f"Fitted: the correlation of the {rate} on the subset with that on all {found.competitions} competitions that "
        "every setup ran, over the setups on which the subset was chosen. For other setups it is lower. Random: its "
        "mean for random subsets."
    )
    if not found.found[0].checked:
        yield "None is recommended: it takes five setups to see how well a subset holds for one that was left out."
        return
    yield (
        "Of setups that were left out of the choice: Correlation, the same as Fitted; Tau (Kendall's), how well the "
        f"subset ranks them, from -1 to 1; Points apart, the mean distance of the two {rate}s."
    )
    chosen = found.chosen
    if not (chosen and chosen.checked):
        yield f"None is recommended: no subset has a correlation of {found.level:g} over setups that were left out."
        return
    if chosen.random >= chosen.checked.correlation:
        yield "Random subsets of this size do as well: here their size matters, not the choice."
    yield (
        f"The smallest with a correlation of {found.level:g} has {len(chosen.ids)} competitions. Rates on it are "
        f"{chosen.checked.apart:.1f} points apart from those on all, so compare them with each other only. For a plan:"
    )
