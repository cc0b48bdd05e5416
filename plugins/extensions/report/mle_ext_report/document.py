"""The report as values. Text, Markdown, JSON, CSV and HTML all show a Document and compute nothing more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from attrs import asdict, field, frozen

from mle_ext_report.appendix import Appendix
from mle_ext_report.compare import Change, Comparison
from mle_ext_report.lines import RunLine
from mle_ext_report.progress import Instant
from mle_ext_report.published import Entry
from mle_ext_report.rates import Rate, SplitRates
from mle_ext_report.statistics import Interval
from mle_ext_report.tallies import Cost, DetectorUse, Failure
from mlecore.model.data_kind import DataKind

if TYPE_CHECKING:
    from mle_ext_report.planning.power import Power
    from mle_ext_report.planning.subsets import Subsets


@frozen(kw_only=True)
class SplitSummary:
    """The benchmark's rates over one list of competitions, and what they leave out."""

    rates: SplitRates
    intervals: Mapping[str, Interval | None]  # over competitions, in percent
    without_flagged: Mapping[str, Rate | None] | None  # flagged runs as failures; None: no run is flagged
    marks: Mapping[str, float] = field(factory=dict)  # "sample", "median", "gold" ... -> mean percentile, where known


@frozen(kw_only=True)
class PassAtK:
    """The chance in percent that the best of ``k`` runs reaches the goal, as mean over competitions."""

    k: int
    competitions: int  # those with at least k runs that count
    planned: int  # those with at least k planned runs
    share: float
    without_flagged: float | None  # with flagged runs as failures; None: no run is flagged


@frozen(kw_only=True)
class Slice:
    """Competitions of one kind: the mean share of runs (first over runs, then over competitions), in percent."""

    by: str
    value: str
    competitions: int  # with runs that count
    planned_competitions: int
    runs: int  # that count
    planned_runs: int
    goal: float | None  # None: no run counts
    goal_without_flagged: float | None  # with flagged runs as failures; None: no run of the setup is flagged
    interval: Interval | None
    valid: float | None
    position: float | None


@frozen(kw_only=True)
class Coverage:
    """How many of the planned runs have results: the denominator of the figures."""

    planned_runs: int
    graded_runs: int  # or still to be graded again
    planned_competitions: int
    missing: Mapping[str, int]  # state -> runs
    without_runs: tuple[str, ...]  # planned competitions of which every run is missing
    padded: bool  # missing runs count as failures; else they are left out


@frozen(kw_only=True)
class SetupSummary:
    """One agent with its options and model. Lists are empty if its runs are not averaged."""

    key: str  # "A", "B", ... in order of appearance
    name: str  # what it is called everywhere
    small_print: str  # what the name leaves out of agent, version, model and options
    agent: str  # with its version
    label: str
    options: Mapping[str, str]
    model: str | None
    edition: str
    data_kinds: tuple[DataKind, ...]  # empty: no run has begun
    half: DataKind | None  # of its data, where another setup has the same agent's runs on other data
    goal: str  # "any_medal", or "beats_sample" where no medals can be earned
    no_medals: str | None  # why there are none
    groups: tuple[str, ...]
    coverage: Coverage
    conditions: Mapping[str, str]
    differences: Mapping[str, Sequence[str]]
    averaged: bool
    rates: tuple[SplitSummary, ...]
    pass_at_k: tuple[PassAtK, ...]
    slices: tuple[Slice, ...]
    position: float | None  # mean over competitions
    position_competitions: int
    position_interval: Interval | None
    progress: tuple[Instant, ...]
    costs: tuple[Cost, ...]
    failures: tuple[Failure, ...]
    process_ends: Mapping[str, int]  # how the agents' processes ended -> runs
    outcomes: Mapping[str, int]  # how the agents say they ended -> runs
    flagged: int
    detectors: tuple[DetectorUse, ...]  # that judged runs
    runs: tuple[RunLine, ...]
    notes: tuple[str, ...]

    @property
    def planned_rates(self) -> SplitSummary | None:
        """Rates over exactly the planned competitions, which may be a split; None without averages."""
        planned = {line.competition for line in self.runs}
        exact = (row for row in self.rates if row.rates.split == "these" or planned == set(row.rates.ids))
        return next(exact, None)

    @property
    def main_rate(self) -> Rate | None:
        """How often the goal was reached on the planned competitions."""
        return None if self.planned_rates is None else self.planned_rates.rates.rates[self.goal]

    def cost(self, unit: str) -> float | None:
        """The sum over all results; None if it is unknown."""
        return next((cost.total for cost in self.costs if cost.unit == unit), None)

    @property
    def tokens(self) -> float | None:
        """Known input and output tokens together; None if neither is known."""
        known = [found for unit in ("input tokens", "output tokens") if (found := self.cost(unit)) is not None]
        return sum(known) if known else None


@frozen(kw_only=True)
class Own:
    """A setup as a line of the published leaderboard."""

    key: str
    name: str
    small_print: str
    rates: Mapping[str, Rate]  # split -> any medal; splits without a complete seed are left out
    not_comparable: tuple[str, ...]


@frozen(kw_only=True)
class Document:
    """A whole report."""

    created_at: str
    mlecore: str  # the version that made it
    setups: tuple[SetupSummary, ...]
    comparisons: tuple[Comparison, ...]
    published: tuple[Entry, ...]
    published_source: str | None
    own: tuple[Own, ...]
    editions: tuple[Change, ...] = ()  # of setups that differ in the edition only
    trained_on: tuple[str, ...] = ()  # competitions that were left out of everything, as a model was trained on them
    appendices: tuple[Appendix, ...] = ()  # that extensions left in the groups' folders
    notices: tuple[str, ...] = ()  # what could not be read, beside runs
    power: Power | None = None  # to tell two setups apart; with --power
    subsets: Subsets | None = None  # None also for fewer than three setups

    @property
    def refused(self) -> bool:
        """Is there a setup whose runs must not be averaged?"""
        return not all(setup.averaged for setup in self.setups)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def leagues(setups: Sequence[SetupSummary]) -> list[list[SetupSummary]]:
    """Setups whose rates compare: with the same goal and edition, and never two halves of one agent's runs. Those with
    medals come first; within each the best, of equal ones that with the higher mean position; without a rate last."""
    halves = any(setup.half for setup in setups)
    found: dict[tuple[object, ...], list[SetupSummary]] = {}
    for setup in sorted(setups, key=lambda setup: setup.goal != "any_medal"):
        kinds = frozenset(setup.data_kinds) if halves and setup.goal != "any_medal" else None
        found.setdefault((setup.goal, setup.edition, kinds), []).append(setup)

    def reached(setup: SetupSummary) -> tuple[float, float]:
        return -1.0 if setup.main_rate is None else setup.main_rate.mean, setup.position or 0.0

    return [sorted(league, key=reached, reverse=True) for league in found.values()]


def ranked(setups: Sequence[SetupSummary]) -> list[SetupSummary]:
    """All of them, league by league."""
    return [setup for league in leagues(setups) for setup in league]
