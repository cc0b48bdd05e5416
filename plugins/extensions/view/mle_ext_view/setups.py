"""The setups of a group: names, letters and rates as in the report, and sums over their runs, also of active ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from attrs import frozen
from mle_ext_report.document import SetupSummary
from mle_ext_report.graded import Graded
from mle_ext_report.pages import marks
from mle_ext_report.rates import MEDALS, PERCENTILE
from mle_ext_report.setups import Setup as ReportSetup
from mle_ext_report.setups import setups as report_setups
from mle_ext_report.summary import setup_summary

from .rows import Row


@frozen(kw_only=True)
class Setup:
    """Runs of one agent with its options and model, in the order of the plan."""

    number: int  # its colour
    rows: Sequence[Row]
    found: ReportSetup

    @property
    def letter(self) -> str:
        return marks.letter(self.number)

    @property
    def name(self) -> str:
        return self.found.name

    @cached_property
    def summary(self) -> SetupSummary:
        """What the report shows of it, over the planned competitions."""
        planned = sorted({item.run.competition for item in self.found.runs})
        return setup_summary(self.letter, self.found, planned)

    @property
    def tokens(self) -> int | None:
        known = [row.tokens for row in self.rows if row.tokens is not None]
        return sum(known) if known else None

    @property
    def cost(self) -> float | None:
        known = [row.cost for row in self.rows if row.cost is not None]
        return sum(known) if known else None

    @property
    def percentile(self) -> float | None:
        """None without a complete seed, or without leaderboards."""
        found = self.summary.planned_rates
        rate = found.rates.rates[PERCENTILE] if found else None
        return rate.mean if rate else None

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
        Setup(number=number, rows=[by_name[item.run.name] for item in found.runs], found=found)
        for number, found in enumerate(report_setups(map(graded, by_name.values())))
    ]
