"""What a report is about and its main result, in a few sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from mle_ext_report.cells import interval, one_line, out_of, p_value, some
from mle_ext_report.compare import Comparison
from mle_ext_report.document import Document, SetupSummary, ranked
from mle_ext_report.statistics import LEVEL
from mlecore.model.record import OBFUSCATED
from mlecore.util.units import counted

_NAMED = 3  # setups in a title
_REACHES = {"any_medal": "earns a medal", "beats_sample": "beats the sample submission"}
_RATES = {"any_medal": "medal rate", "beats_sample": "rate of beating the sample"}
_MISSES = {"any_medal": "earns no medal", "beats_sample": "does not beat the sample submission"}


def title(document: Document) -> str:
    setups = document.setups
    names = [setup.name for setup in setups]
    what = " vs ".join(names) if len(names) <= _NAMED else f"{len(names)} setups"
    competitions = _competitions(setups)
    on = one_line(next(iter(competitions))) if len(competitions) == 1 else f"{len(competitions)} competitions"
    return f"{what} on {on}"


def facts(document: Document) -> list[tuple[str, str]]:
    """What the report covers, as names and values."""
    setups = document.setups
    planned, graded = (
        sum(getattr(setup.coverage, name) for setup in setups) for name in ("planned_runs", "graded_runs")
    )
    groups = list(dict.fromkeys(group for setup in setups for group in setup.groups))
    editions = dict.fromkeys(setup.edition for setup in setups)
    kinds = dict.fromkeys(kind for setup in setups for kind in setup.data_kinds)
    hidden = dict.fromkeys(OBFUSCATED[line.obfuscation] for setup in setups for line in setup.runs)
    found = [
        ("Group" if len(groups) == 1 else "Groups", some(groups)),
        ("Edition", ", ".join(editions)),
        ("Data", ", ".join(kind.replace("_", " ") for kind in kinds)),
        ("Agents saw", ", ".join(filter(None, hidden))),
        ("Graded runs", out_of(graded, planned)),
        ("Created", f"{document.created_at[:16].replace('T', ' ')} UTC by mlecore {document.mlecore}"),
    ]
    return [(name, one_line(value)) for name, value in found if value]


def warnings(document: Document) -> Iterator[str]:
    """Why scores do not compare with others, or with each other; and what could not be read."""
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
        yield (
            f"Conditions differ between runs of {', '.join(refused)}, so they are not averaged. Report on one kind of "
            "them, or average anyway with --mix."
        )
    yield from map(one_line, document.notices)


def result(document: Document) -> str:
    """The main result in a sentence or two."""
    best, *others = ranked(document.setups)
    names = {setup.key: f"{setup.name} ({setup.key})" if others else setup.name for setup in document.setups}
    level = [setup for setup in others if _equal(best, setup)]
    said = _shared([best, *level], names, len(document.setups)) if level else _reached(document, best, names[best.key])
    for pair in document.comparisons:
        first_two = bool(others) and {pair.a, pair.b} == {best.key, others[0].key} and pair.competitions > 0
        if first_two and len(level) < 2 and (best.main_rate or len(others) == 1):
            subject = best.key if level else "It" if best.main_rate else names[best.key]
            said += f" {_compared(pair, best.key, subject, others[0].key if level else names[others[0].key])}"
    return one_line(said)


def _equal(one: SetupSummary, other: SetupSummary) -> bool:
    """Do they share a rate on the same competitions?"""
    a, b = one.planned_rates, other.planned_rates
    if a is None or b is None or (one.goal, one.edition, a.rates.ids) != (other.goal, other.edition, b.rates.ids):
        return False
    return one.main_rate is not None and other.main_rate is not None and one.main_rate.mean == other.main_rate.mean


def _reached(document: Document, best: SetupSummary, name: str) -> str:
    """Such as "aide 1.0 earns a medal on 45.3 % of 75 competitions (95 % interval 35.1 to 56.0)."."""
    found, rate = best.planned_rates, best.main_rate
    if not any(setup.coverage.graded_runs for setup in document.setups):
        return "No run has a result."
    if found is None or rate is None:
        return _no_rate(document, best)
    reach = found.intervals[best.goal]
    where = f"{LEVEL} % interval {interval(reach)}" if reach else ""
    first = f"Of {len(document.setups)} setups, " if len(document.setups) > 2 else ""
    return one_line(f"{first}{name} {_success(best, where)}.")


def _no_rate(document: Document, best: SetupSummary) -> str:
    planned = sum(setup.coverage.planned_runs for setup in document.setups)
    missing = planned - sum(setup.coverage.graded_runs for setup in document.setups)
    why = "no seed has a graded run on each of them"
    if not best.averaged:
        why = "conditions differ between runs"
    elif missing:
        why = f"{missing} of {planned} planned runs have no result; --pad-missing counts those as failures"
    return f"There is no rate over all planned competitions, as {why}."


def _success(setup: SetupSummary, where: str = "") -> str:
    """Such as "earns a medal on 45.3 % of 75 competitions", with what it leaves out and ``where`` in brackets."""
    assert setup.planned_rates is not None and setup.main_rate is not None
    rates, mean = setup.planned_rates.rates, setup.main_rate.mean
    reaches, misses = _REACHES[setup.goal], _MISSES[setup.goal]
    if rates.competitions > 1:
        share = f"{mean:.1f} %" if mean else "none"
        left_out = rates.left_out if setup.goal == "any_medal" else ""
        number = rates.competitions - len(rates.unranked) * bool(left_out)
        remarks = "; ".join(filter(None, (left_out, where)))
        return f"{reaches} on {share} of {counted(number, 'competition')}" + (f" ({remarks})" if remarks else "")
    on, runs = rates.ids[0], len(rates.seeds)
    if runs == 1:
        return f"{reaches if mean else misses} on {on}"
    successes = round(mean / 100 * runs)
    return f"{reaches} in {successes} of {runs} runs on {on}" if successes else f"{misses} in {runs} runs on {on}"


def _shared(best: Sequence[SetupSummary], names: Mapping[str, str], setups: int) -> str:
    """The sentence about several setups that share the highest rate."""
    keys = [names[setup.key] for setup in best] if len(best) == 2 else [setup.key for setup in best]
    who = f"{', '.join(keys[:-1])} and {keys[-1]}"
    first = f"Of {setups} setups, " if setups > len(best) else ""
    if best[0].main_rate and best[0].main_rate.mean == 0:
        return f"None of {setups} setups {_REACHES[best[0].goal]} on any competition."
    return one_line(f"{first}{who} share the highest rate: each {_success(best[0])}.")


def _compared(pair: Comparison, best: str, subject: str, second: str) -> str:
    """The sentence that compares the best setup, given by its key, with the second."""
    if not pair.differences:
        why = (
            "they ran on different editions"
            if "edition" in pair.differ
            else f"conditions differ ({', '.join(pair.differ)})"
        )
        return f"{subject} is not compared with {second}, as {why}."
    turned = pair.a != best
    wins, losses = sum(found.a_wins > 0.5 for found in pair.pairs), sum(found.a_wins < 0.5 for found in pair.pairs)
    row = pair.differences[0]
    difference, reach = row.difference, row.interval
    if turned:
        wins, losses, difference = losses, wins, -difference
        reach = reach and (-reach[1], -reach[0])
    p = row.corrected_p
    holm = "" if row.p_holm is None else ", corrected for all pairs by Holm"
    where = f"{LEVEL} % interval {interval(reach)}, " if reach else ""
    chance = "" if p < 0.05 else ", which may be chance"
    on = counted(pair.competitions, "competition")
    said = f"{subject} scores better than {second} on {wins or 'none'} of {on} and worse on {losses or 'none'}"
    if pair.competitions == 1 and (wins or losses):
        said = f"{subject} scores {'better' if wins else 'worse'} than {second}"
    if not (wins or losses or difference):
        return f"Their scores are equal on {on}."
    if not difference:
        return f"{said}, with the same {_RATES[pair.goal]}." if subject != best else f"{said}."
    return (
        f"{said}; the difference in {_RATES[pair.goal]} is {difference:+.1f} points "
        f"({where}p {p_value(p)}{holm}){chance}."
    )


def _competitions(setups: Sequence[SetupSummary]) -> set[str]:
    return {line.competition for setup in setups for line in setup.runs}
