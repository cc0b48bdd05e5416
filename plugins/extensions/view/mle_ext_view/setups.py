"""The setups of a group: names and letters as in the report, the rate of each, and sums over its runs."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence

from attrs import frozen
from mle_ext_report.cells import interval
from mle_ext_report.compare import goal_of
from mle_ext_report.conditions import differences
from mle_ext_report.document import SplitSummary
from mle_ext_report.graded import Graded
from mle_ext_report.names import small_print
from mle_ext_report.pages import marks
from mle_ext_report.pages.rates import Rate, RateRow
from mle_ext_report.rates import MEDALS, PERCENTILE, unranked
from mle_ext_report.setups import Setup as ReportSetup
from mle_ext_report.setups import setups as report_setups
from mle_ext_report.summary import split_summaries

from .rows import Row

GOALS = {"any_medal": "Medal rate", "beats_sample": "Rate of beating the sample"}


@frozen(kw_only=True)
class Setup:
    """Runs of one agent with its options and model, in the order of the plan."""

    number: int  # its colour
    letter: str
    name: str
    small: str  # version, model, options
    rows: Sequence[Row]
    found: ReportSetup

    @property
    def goal(self) -> str:
        """any_medal, or beats_sample where no medals can be earned."""
        return goal_of(self.found.runs)

    @property
    def tokens(self) -> int | None:
        known = [row.tokens for row in self.rows if row.tokens is not None]
        return sum(known) if known else None

    @property
    def cost(self) -> float | None:
        known = [row.cost for row in self.rows if row.cost is not None]
        return sum(known) if known else None

    @property
    def position(self) -> float | None:
        """Mean, from the sample submission (0) to gold (1)."""
        known = [row.position for row in self.rows if row.position is not None]
        return statistics.fmean(known) if known else None

    @property
    def percentile(self) -> float | None:
        """Mean, as in the report: None without a complete seed, or without leaderboards."""
        found = _rates(self, (PERCENTILE,)).rates.rates[PERCENTILE]
        return None if found is None or differences(item.run for item in self.found.counted) else found.mean

    @property
    def hours(self) -> float:
        return sum(row.record.seconds or 0.0 for row in self.rows) / 3600

    @property
    def results(self) -> Mapping[str, int]:
        """Column of a table -> runs."""
        results = [row.result for row in self.rows]
        counts = {medal.capitalize(): results.count(medal) for medal in MEDALS}
        counts["Above median"] = results.count("above the median")
        counts["Beat sample"] = sum(bool(row.report and row.report.beats_sample) for row in self.rows)
        counts["Valid"] = sum(bool(row.report and row.report.valid_submission) for row in self.rows)
        counts["Flagged"] = sum(row.flagged for row in self.rows)
        return counts


def graded(row: Row) -> Graded:
    """The run for the report's functions, without what detectors found."""
    return Graded(run=row.record, report=row.report)


def setups_of(rows: Iterable[Row]) -> list[Setup]:
    """In order of first appearance."""
    by_name = {row.record.name: row for row in rows}
    return [
        Setup(
            number=number,
            letter=marks.letter(number),
            name=found.name,
            small=small_print(found.first, found.name),
            rows=[by_name[item.run.name] for item in found.runs],
            found=found,
        )
        for number, found in enumerate(report_setups(map(graded, by_name.values())))
    ]


def rate_rows(setups: Sequence[Setup], evidence: Callable[[Setup], str]) -> tuple[str, list[RateRow]]:
    """What the rates are of, and those that the report shows as well, the best first. ``evidence``: where the runs of a
    setup are."""
    goals = {setup.goal for setup in setups}
    if len(goals) != 1:
        return "", []
    (goal,) = goals
    rows = [
        row
        for setup in setups
        if (row := _rate_row(setup, goal, letter=setup.letter if len(setups) > 1 else "", evidence=evidence(setup)))
    ]
    runs = [item for setup in setups for item in setup.found.runs]
    competitions = {item.run.competition for item in runs}
    if goal == "any_medal":
        could = [(item.run.competition, item.ranked) for item in runs]
        competitions -= {*unranked(competitions, setups[0].found.edition, could)}
    number = len(competitions)
    words = f"{GOALS[goal]} " + (f"over {number} competitions" if number > 1 else f"on {', '.join(competitions)}")
    return words, sorted(rows, key=lambda row: row.rate.mean, reverse=True)


def _rates(setup: Setup, kinds: Sequence[str]) -> SplitSummary:
    """Over the planned competitions."""
    planned = sorted({item.run.competition for item in setup.found.runs})
    (found,) = split_summaries(setup.found.runs, planned, False, kinds, setup.found.edition)
    return found


def _rate_row(setup: Setup, goal: str, letter: str, evidence: str) -> RateRow | None:
    """None as long as no seed is complete, or where runs do not compare with each other."""
    found = _rates(setup, (*MEDALS, goal) if goal == "any_medal" else (goal,))
    mean, reach = found.rates.rates[goal], found.intervals[goal]
    if mean is None or differences(item.run for item in setup.found.counted):
        return None
    shares = [(medal, rate.mean) for medal in MEDALS if (rate := found.rates.rates.get(medal))]
    low, high = reach or (None, None)
    return RateRow(
        name=setup.name,
        letter=letter,
        evidence=evidence,
        small=setup.small,
        value=f"{mean.mean:.1f} %",
        reach=interval(reach) if reach else "",
        rate=Rate(
            mean=mean.mean,
            words=f"{setup.name}: {mean.mean:.1f} %",
            low=low,
            high=high,
            medals=shares,
            number=setup.number,
        ),
    )
