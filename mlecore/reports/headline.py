"""What a report is about and its main result, in a few sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from mlecore.reports.cells import RATE_NAMES, interval, one_line, out_of, p_value
from mlecore.reports.compare import Comparison
from mlecore.reports.document import Document, SetupSummary
from mlecore.reports.sections.setups import ranked
from mlecore.reports.statistics import LEVEL
from mlecore.units import counted

_LONGEST = 60  # characters of a setup's name
_NAMED = 3  # setups in a title
_PART = re.compile(r", | (?=[\w-]+=)")
"""Between the agent, its label, options, model and data in a setup's title."""
_REACHES = {"any_medal": "earns a medal on", "beats_sample": "beats the sample submission on"}


def title(document: Document) -> str:
    setups = document.setups
    names = list(short_names(setups).values())
    what = " vs ".join(names) if len(names) <= _NAMED else f"{len(names)} setups"
    return f"{what} on {counted(len(_competitions(setups)), 'competition')}"


def facts(document: Document) -> list[tuple[str, str]]:
    """Name and value of what the report covers."""
    setups = document.setups
    planned, graded = (
        sum(getattr(setup.coverage, name) for setup in setups) for name in ("planned_runs", "graded_runs")
    )
    groups = list(dict.fromkeys(group for setup in setups for group in setup.groups))
    editions = dict.fromkeys(setup.edition for setup in setups)
    kinds = dict.fromkeys(kind for setup in setups for kind in setup.data_kinds)
    found = [
        ("Groups", ", ".join(groups[:5]) + (f" and {len(groups) - 5} more" if len(groups) > 5 else "")),
        ("Edition", ", ".join(editions)),
        ("Data", ", ".join(kind.replace("_", " ") for kind in kinds)),
        ("Graded runs", out_of(graded, planned)),
        ("Created", f"{document.created_at[:16].replace('T', ' ')} UTC by mlecore {document.mlecore}"),
    ]
    return [(name, one_line(value)) for name, value in found if value]


def warnings(document: Document) -> Iterator[str]:
    """Why scores do not compare with others, or with each other."""
    setups = document.setups
    for why in dict.fromkeys(setup.no_medals for setup in setups if setup.no_medals):
        keys = [setup.key for setup in setups if setup.no_medals == why]
        which = "" if len(keys) == len(setups) else f"{', '.join(keys)}: "
        yield one_line(f"{which}{why}")
    if len({frozenset(_competitions([setup])) for setup in setups}) > 1:
        yield (
            "Setups were planned on different competitions, so their rates do not compare. Pairs are compared on those "
            "that both ran."
        )
    refused = [setup.key for setup in setups if not setup.averaged]
    if refused:
        yield f"Conditions differ between runs of {', '.join(refused)}, so there are no averages of them."


def result(document: Document) -> str:
    """The main result in a sentence or two."""
    best, *others = ranked(document.setups)
    names = short_names(document.setups)
    if others:
        names = {key: f"{name} ({key})" for key, name in names.items()}
    level = [setup for setup in others if _equal(best, setup)]
    said = _shared([best, *level], names, len(document.setups)) if level else _reached(document, best, names[best.key])
    for pair in document.comparisons:
        if len(level) < 2 and others and {pair.a, pair.b} == {best.key, others[0].key} and pair.competitions:
            subject = "It" if best.main_rate and not level else names[best.key]
            said += f" {_compared(pair, best.key, subject, names[others[0].key])}"
    return one_line(said)


def _equal(one: SetupSummary, other: SetupSummary) -> bool:
    """Do they share a rate on the same competitions?"""
    a, b = one.planned_rates, other.planned_rates
    if a is None or b is None or (one.goal, a.rates.ids) != (other.goal, b.rates.ids):
        return False
    return one.main_rate is not None and other.main_rate is not None and one.main_rate.mean == other.main_rate.mean


def _reached(document: Document, best: SetupSummary, name: str) -> str:
    """Such as "aide 1.0 earns a medal on 45.3 % of 75 competitions (95 % interval 35.1 to 56.0)."."""
    found, rate = best.planned_rates, best.main_rate
    if not any(setup.coverage.graded_runs for setup in document.setups):
        return "No run has a result."
    if found is None or rate is None:
        return "There is no rate over all planned competitions: no seed has a graded run on each of them."
    reach = found.intervals[best.goal]
    where = f" ({LEVEL} % interval {interval(reach)})" if reach else ""
    first = f"Of {len(document.setups)} setups, " if len(document.setups) > 2 else ""
    return one_line(f"{first}{name} {_REACHES[best.goal]} {_share(best)}{where}.")


def _share(setup: SetupSummary) -> str:
    """Such as "45.3 % of 75 competitions"."""
    assert setup.planned_rates is not None and setup.main_rate is not None
    on = setup.planned_rates.rates.competitions
    if setup.main_rate.mean == 0:
        return f"none of {on} competitions" if on > 1 else "no run of the competition"
    if on == 1:
        return f"{setup.main_rate.mean:.1f} % of the runs of one competition"
    return f"{setup.main_rate.mean:.1f} % of {on} competitions"


def _shared(best: Sequence[SetupSummary], names: Mapping[str, str], setups: int) -> str:
    """Of several that share the highest rate."""
    keys = [names[setup.key] for setup in best] if len(best) == 2 else [setup.key for setup in best]
    who = f"{', '.join(keys[:-1])} and {keys[-1]}"
    first = f"Of {setups} setups, " if setups > len(best) else ""
    reaches = _REACHES[best[0].goal]
    if best[0].main_rate and best[0].main_rate.mean == 0:
        return f"None of {setups} setups {reaches} any competition."
    return one_line(f"{first}{who} share the highest rate: each {reaches} {_share(best[0])}.")


def _compared(pair: Comparison, best: str, subject: str, second: str) -> str:
    """The best setup, by its key, against the second."""
    if not pair.differences:
        return f"{subject} is not compared with {second}, as conditions differ ({', '.join(pair.differ)})."
    turned = pair.a != best
    wins, losses = sum(found.a_wins > 0.5 for found in pair.pairs), sum(found.a_wins < 0.5 for found in pair.pairs)
    row = pair.differences[0]
    difference, reach = row.difference, row.interval
    if turned:
        wins, losses, difference = losses, wins, -difference
        reach = reach and (-reach[1], -reach[0])
    p = row.p if row.p_holm is None else row.p_holm
    holm = "" if row.p_holm is None else ", corrected for all pairs by Holm"
    where = f"{LEVEL} % interval {interval(reach)}, " if reach else ""
    chance = "" if p < 0.05 else ", which may be chance"
    on = counted(pair.competitions, "competition")
    said = f"{subject} scores better than {second} on {wins} of {on} and worse on {losses}"
    if not (wins or losses or difference):
        return f"Their scores are equal on {on}."
    if not difference:
        return f"{said}; they do not differ in {RATE_NAMES[row.rate]}."
    return (
        f"{said}; the difference in {RATE_NAMES[row.rate]} is {difference:+.1f} points "
        f"({where}p {p_value(p)}{holm}){chance}."
    )


def short_names(setups: Sequence[SetupSummary]) -> dict[str, str]:
    """Key of a setup -> its agent, and of its label, options, model and data what tells it from the others."""
    if len({setup.agent for setup in setups}) == len(setups):
        return {setup.key: _cut(setup.agent) for setup in setups}
    parts = {setup.key: _PART.split(setup.title) for setup in setups}
    shared = set.intersection(*map(set, parts.values()))
    return {
        setup.key: _cut(", ".join([setup.agent, *(part for part in parts[setup.key][1:] if part not in shared)]))
        for setup in setups
    }


def _cut(name: str) -> str:
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"


def _competitions(setups: Sequence[SetupSummary]) -> set[str]:
    return {line.competition for setup in setups for line in setup.runs}
