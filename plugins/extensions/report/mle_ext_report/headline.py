"""What a report is about and its main result, in a few sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mle_ext_report.cells import interval, one_line, out_of, some
from mle_ext_report.compare import Comparison
from mle_ext_report.document import Document, SetupSummary, leagues
from mlecore.model.record import OBFUSCATED
from mlecore.util.units import counted

_NAMED = 3  # setups in a title
_REACHES = {"any_medal": "earns a medal", "beats_sample": "beats the sample submission"}
RATES = {"any_medal": "medal rate", "beats_sample": "success rate"}
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
        ("Trained on, and left out", ", ".join(document.trained_on)),
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
    if any(len({frozenset(_competitions([setup])) for setup in league}) > 1 for league in leagues(setups)):
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
    """Who won, by how much, and whether that may be chance, in a few plain sentences."""
    played = [league for league in leagues(document.setups) if any(setup.coverage.graded_runs for setup in league)]
    if not played:
        return "No run has a result."
    return one_line(" ".join(_of_league(document, league) for league in played))


def _of_league(document: Document, league: Sequence[SetupSummary]) -> str:
    best, *others = league
    level = [setup for setup in others if _equal(best, setup)]
    if level:
        said = _shared([best, *level], len(league))
    elif best.main_rate is None:
        said = _no_rate(league)
    else:
        said = _reached(league)
    if not others or len(level) > 1 or (best.main_rate is None and len(others) > 1):
        return said
    pair = next((pair for pair in document.comparisons if {pair.a, pair.b} == {best.key, others[0].key}), None)
    if not pair or not pair.competitions:
        return said
    plan = pair.planned_words(turned=pair.b == best.key)
    return f"{said} {_compared(pair, best, others[0])}" + (f" By plan they differ: {plan}." if plan else "")


def _equal(one: SetupSummary, other: SetupSummary) -> bool:
    """Do they share a rate on the same competitions?"""
    a, b = one.planned_rates, other.planned_rates
    if a is None or b is None or (one.goal, one.edition, a.rates.ids) != (other.goal, other.edition, b.rates.ids):
        return False
    return one.main_rate is not None and other.main_rate is not None and one.main_rate.mean == other.main_rate.mean


def _reached(league: Sequence[SetupSummary]) -> str:
    """Such as "aide earns a medal on 45.3 % of 75 competitions, openhands on 21.2 %."."""
    best, *others = (setup for setup in league[:_NAMED] if setup.main_rate)
    said = f"{best.name} {_success(best)}"
    said += "".join(f", {other.name} {_less(other, best)}" for other in others)
    if len(league) > _NAMED:
        return f"Of {len(league)} setups, {said}."
    assert best.planned_rates is not None
    reach = best.planned_rates.intervals[best.goal]
    likely = f" Expect {interval(reach)} % on other competitions like these." if reach and len(league) == 1 else ""
    return f"{said}.{likely}"


def _less(setup: SetupSummary, best: SetupSummary) -> str:
    """What a setup reached, in few words if it is on the same competitions as the best one."""
    one, other = setup.planned_rates, best.planned_rates
    if not (one and other and setup.main_rate and one.rates.ids == other.rates.ids):
        return _success(setup)
    mean, runs = setup.main_rate.mean, len(one.rates.seeds)
    if len(one.rates.ids) > 1:
        return f"on {mean:.1f} %" if mean else "on none"
    return f"in {round(mean / 100 * runs) or 'none'} of {runs}" if runs > 1 else "does" if mean else "does not"


def _no_rate(league: Sequence[SetupSummary]) -> str:
    planned = sum(setup.coverage.planned_runs for setup in league)
    missing = planned - sum(setup.coverage.graded_runs for setup in league)
    why = "no seed has a graded run on each of them"
    if not league[0].averaged:
        why = "conditions differ between runs"
    elif missing:
        why = f"{missing} of {planned} planned runs have no result; --pad-missing counts those as failures"
    return f"There is no rate over all planned competitions, as {why}."


def _success(setup: SetupSummary) -> str:
    """Such as "earns a medal on 45.3 % of 75 competitions", with what it leaves out in brackets."""
    assert setup.planned_rates is not None and setup.main_rate is not None
    rates, mean = setup.planned_rates.rates, setup.main_rate.mean
    reaches, misses = _REACHES[setup.goal], _MISSES[setup.goal]
    if rates.competitions > 1:
        of = "all" if mean == 100 else f"{mean:.1f} % of" if mean else "none of"
        left_out = rates.left_out if setup.goal == "any_medal" else ""
        number = rates.competitions - len(rates.unranked) * bool(left_out)
        on = "both competitions" if mean == 100 and number == 2 else f"{of} {counted(number, 'competition')}"
        return f"{reaches} on {on}" + (f" ({left_out})" if left_out else "")
    on, runs = rates.ids[0], len(rates.seeds)
    if runs == 1:
        return f"{reaches if mean else misses} on {on}"
    successes = round(mean / 100 * runs)
    return f"{reaches} in {successes} of {runs} runs on {on}" if successes else f"{misses} in {runs} runs on {on}"


def _shared(best: Sequence[SetupSummary], setups: int) -> str:
    """The sentence about several setups that share the highest rate."""
    if best[0].main_rate and best[0].main_rate.mean == 0:
        return f"None of {setups} setups {_REACHES[best[0].goal]} on any competition."
    names = [setup.name if len(best) <= _NAMED else setup.key for setup in best]
    first = f"Of {setups} setups, " if setups > len(best) else ""
    return f"{first}{', '.join(names[:-1])} and {names[-1]} share the highest rate: each {_success(best[0])}."


def _compared(pair: Comparison, best: SetupSummary, second: SetupSummary) -> str:
    """How often the best setup scores better than the second, and whether their rates may differ by chance."""
    subject = best.name
    if not pair.differences:
        why = f"their conditions differ ({', '.join(pair.differ)})"
        return f"{subject} is not compared with {second.name}, as {why}."
    wins, losses = sum(found.a_wins > 0.5 for found in pair.pairs), sum(found.a_wins < 0.5 for found in pair.pairs)
    if pair.a != best.key:
        wins, losses = losses, wins
    row = pair.differences[0]
    if not (wins or losses or row.difference):
        return f"Their scores are equal on {counted(pair.competitions, 'competition')}."
    if pair.competitions == 1:
        how = "better than" if wins else "worse than" if losses else "the same as"
        said = f"{subject} scores {how} {second.name}."
    else:
        on = counted(pair.competitions, "competition")
        said = f"{subject} scores better than {second.name} on {wins or 'none'} of {on}, worse on {losses or 'none'}."
    if not row.difference:
        return said
    may = "may" if row.corrected_p >= 0.05 else "is unlikely to"
    few = ": there are too few competitions to tell" if row.smallest_p >= 0.05 else ""
    return f"{said} The difference in their {RATES[pair.goal]}s {may} be chance{few}."


def _competitions(setups: Sequence[SetupSummary]) -> set[str]:
    return {line.competition for setup in setups for line in setup.runs}
