"""The charts of who won: a row for each setup, the best first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import frozen

from mle_ext_report.cells import interval
from mle_ext_report.document import SetupSummary, leagues
from mle_ext_report.pages.rates import Rate, RateRow, rate_top
from mle_ext_report.rates import MEDALS
from mle_ext_report.statistics import LEVEL


@frozen(kw_only=True)
class Winners:
    """One chart. ``top``: where its axis ends, in percent."""

    caption: str
    rows: tuple[RateRow, ...]
    top: float
    medals: bool


def winners(setups: Sequence[SetupSummary], numbers: Mapping[str, int]) -> list[Winners]:
    """A chart for each list of setups whose rates compare; none for those without any result.

    Where seeds are too incomplete for a rate, the row has the share of graded runs that reached the goal.
    """
    of = [league for league in leagues(setups) if any(each.averaged and each.coverage.graded_runs for each in league)]
    return [_chart(league, numbers, several=len(of) > 1) for league in of]


def _chart(league: Sequence[SetupSummary], numbers: Mapping[str, int], several: bool) -> Winners:
    rows = tuple(_row(setup, numbers[setup.key]) for setup in league)
    goal, rated = league[0].goal, [setup.planned_rates for setup in league if setup.main_rate]
    numbers_of = {len(found.rates.counted(goal)) for found in rated if found}
    over = "Competitions" if max(numbers_of, default=1) > 1 else "Runs"
    of = f", % of {numbers_of.pop()}" if len(numbers_of) == 1 and over == "Competitions" else ""
    what = {"any_medal": "with a medal", "beats_sample": "better than the sample submission"}[goal]
    which = f", edition {league[0].edition}" if several else ""
    if league[0].half and goal != "any_medal":
        which += f", {', '.join(league[0].data_kinds).replace('_', ' ')} data"
    return Winners(
        caption=f"{over} {what}{of}{which}",
        rows=rows,
        top=rate_top(row.rate for row in rows),
        medals=any(row.rate.medals for row in rows),
    )


def _row(setup: SetupSummary, number: int) -> RateRow:
    found, mean, reach = setup.planned_rates, setup.main_rate, ""
    if found and mean:
        ends = found.intervals[setup.goal]
        shares = {medal: each.mean for medal in MEDALS if (each := found.rates.rates[medal])}
        value, reach = f"{mean.mean:.1f} %", interval(ends) if ends else ""
        words = f"{setup.name}: {value}" + (f", {LEVEL} % interval {reach}" if ends else "")
        low, high = ends or (None, None)
        medals = tuple(shares.items()) if setup.goal == "any_medal" else ()
        rate = Rate(mean=mean.mean, words=words, low=low, high=high, medals=medals, number=number)
    else:
        graded, reached = setup.coverage.graded_runs, sum(line.reached_goal for line in setup.runs)
        value, share = "not averaged" if graded else "no result", 0.0
        if setup.averaged and graded:
            value, share = f"{reached} of {graded} runs", 100 * reached / graded
        rate = Rate(mean=share, words=f"{setup.name}: {value}", number=number)
    return RateRow(
        name=setup.name,
        rate=rate,
        value=value,
        reach=reach,
        letter=setup.key,
        small=setup.small_print,
        link=f"#setup-{setup.key}",
        evidence="#medals",
    )
