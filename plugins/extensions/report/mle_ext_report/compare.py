"""Two setups on the same competitions: is one better, by how much, and could it be chance?"""

from __future__ import annotations

import itertools
import math
import statistics
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from attrs import asdict, evolve, frozen

from mle_ext_report import rates
from mle_ext_report.benchmark import edition_facts
from mle_ext_report.conditions import between, planned_differences
from mle_ext_report.graded import Graded
from mle_ext_report.position import mean_positions
from mle_ext_report.setups import Setup, differ_in_edition
from mle_ext_report.statistics import Counts, Interval, chance_to_win, holm, mean_interval, paired_difference
from mlecore.model.facts import Comparability
from mlecore.model.record import RunRecord

Runs = Mapping[str, Sequence[Graded]]


@frozen(kw_only=True)
class Difference:
    """One rate of both agents, in percent, over the competitions that are compared; the difference is a - b."""

    rate: str
    without_flagged: bool  # flagged runs count as failures
    competitions: int  # a medal rate leaves out those without a comparable leaderboard
    a: float
    b: float
    difference: float
    interval: Interval | None  # excludes 0 exactly if p < 0.05
    p: float  # of the paired permutation test over competitions, two-sided
    smallest_p: float  # that could have resulted, given on how many competitions the two differ
    p_holm: float | None = None  # corrected for the number of pairs of agents; None if there is one pair only

    @property
    def corrected_p(self) -> float:
        """p, corrected for the number of pairs if there are several."""
        return self.p if self.p_holm is None else self.p_holm


@frozen(kw_only=True)
class Pair:
    """Both agents on one competition. Shares in percent; scores are means of valid submissions."""

    competition: str
    a: float
    b: float
    difference: float
    a_score: float | None
    b_score: float | None
    a_wins: float  # the probability that a run of a beats one of b, by score; a tie counts as half a win


@frozen(kw_only=True)
class Comparison:
    """Two setups, by their keys. ``by_plan`` is what their common plan varies. ``differ`` says what else differs; they
    are then compared only on request, and those of different editions never."""

    a: str
    b: str
    competitions: int  # with a run of both that counts
    planned: int  # competitions that were planned for both
    by_plan: Mapping[str, tuple[str, str]]  # limit -> that of a and of b, in words
    differ: Mapping[str, Sequence[str]]
    goal: str  # the rate of ``pairs``: "any_medal", or "beats_sample" where no medals can be earned
    differences: tuple[Difference, ...]
    a_wins: float | None  # mean over competitions
    a_wins_interval: Interval | None
    pairs: tuple[Pair, ...]

    def planned_words(self, turned: bool = False) -> str:
        """Such as "2 GPUs against 1 GPU", for a against b, or ``turned``; empty if the plan varies nothing."""
        limits = [words for name, words in self.by_plan.items() if name != "hardware class"]  # which follows from them
        return ", ".join(" against ".join(words[:: -1 if turned else 1]) for words in limits)


@frozen(kw_only=True)
class Side:
    """One of two setups that are compared."""

    key: str
    runs: Sequence[Graded]  # that count
    planned: frozenset[str]  # competitions


def compare(a: Side, b: Side, mix: bool = False) -> Comparison | None:
    """Compare on the competitions where both have results; None if none was planned for both."""
    planned = a.planned & b.planned
    if not planned:
        return None
    runs_a, runs_b = by_competition(a.runs), by_competition(b.runs)
    both = [competition for competition in runs_a if competition in runs_b]
    runs_a, runs_b = ({competition: runs[competition] for competition in both} for runs in (runs_a, runs_b))
    records_a, records_b = _present(runs_a), _present(runs_b)
    by_plan = planned_differences(records_a, records_b)
    differ = {name: of for name, of in between(records_a, records_b).items() if name not in by_plan}
    goal = goal_of([item for item in (*a.runs, *b.runs) if item.run.competition in planned])
    pairs = [_pair(competition, runs_a[competition], runs_b[competition], goal) for competition in both]
    wins = [pair.a_wins for pair in pairs]
    chances = sum(min(len(runs_a[competition]), len(runs_b[competition])) for competition in both)
    done = bool(both) and (mix or not differ) and "edition" not in differ
    kinds = ("any_medal", "above_median", "valid") if goal == "any_medal" else ("beats_sample", "valid")
    without = (False, True) if any_flagged(runs_a) or any_flagged(runs_b) else (False,)
    found = (_difference(kind, runs_a, runs_b, flagged) for kind in kinds * done for flagged in without)
    return Comparison(
        a=a.key,
        b=b.key,
        competitions=len(both),
        planned=len(planned),
        by_plan=by_plan,
        differ=differ,
        goal=goal,
        differences=tuple(row for row in found if row is not None),
        a_wins=statistics.fmean(wins) if done else None,
        # n runs against n scatter no more than n independent duels would (Birnbaum and Klose 1957)
        a_wins_interval=mean_interval(wins, chances) if done else None,
        pairs=tuple(pairs),
    )


def corrected(comparisons: Sequence[Comparison]) -> tuple[Comparison, ...]:
    """Comparisons with p-values corrected by Holm's method for the number of tested pairs, rate by rate."""
    tested: dict[tuple[str, bool], list[float]] = defaultdict(list)
    for comparison in comparisons:
        for row in comparison.differences:
            tested[row.rate, row.without_flagged].append(row.p)
    left = {test: iter(holm(found)) for test, found in tested.items() if len(found) > 1}
    return tuple(
        evolve(
            comparison,
            differences=tuple(
                evolve(row, p_holm=next(left[test])) if (test := (row.rate, row.without_flagged)) in left else row
                for row in comparison.differences
            ),
        )
        for comparison in comparisons
    )


def _present(runs: Runs) -> list[RunRecord]:
    """Records of finished runs; missing runs lack most conditions."""
    return [item.run for items in runs.values() for item in items if item.counts]


def by_competition(runs: Sequence[Graded]) -> dict[str, list[Graded]]:
    """Competition -> its runs."""
    found: dict[str, list[Graded]] = defaultdict(list)
    for item in runs:
        found[item.run.competition].append(item)
    return dict(found)


def goal_of(runs: Sequence[Graded]) -> str:
    """What counts as success: a medal, or, if no run could earn one, a better score than the sample's."""
    known = [item.ranked for item in runs if item.report is not None or item.run.data_kind is not None]
    return "any_medal" if any(known) or not known else "beats_sample"


def any_flagged(runs: Runs) -> bool:
    """Did a detector flag one of them?"""
    return any(item.suspicions for items in runs.values() for item in items)


def counts(runs: Runs, rate: str, unflagged: bool = False) -> Counts:
    """As ``rates.counts``; ``unflagged``: runs that a detector flagged did not succeed. A medal rate leaves out
    competitions on which no medals can be earned."""
    return rates.counts(
        (
            (competition, item.unflagged if unflagged else item.outcome)
            for competition, items in runs.items()
            if rate not in rates.MEDAL_RATES or all(item.ranked for item in items)
            for item in items
        ),
        rate,
    )


def _difference(rate: str, runs_a: Runs, runs_b: Runs, without_flagged: bool) -> Difference | None:
    """One rate of both; None if no competition counts for both."""
    a, b = (counts(runs, rate, without_flagged) for runs in (runs_a, runs_b))
    a, b = {id: a[id] for id in a if id in b}, {id: b[id] for id in a if id in b}
    if not a:
        return None
    shares_a, shares_b = ([wins / runs for wins, runs in counted.values()] for counted in (a, b))
    found = paired_difference(a, b)
    return Difference(
        rate=rate,
        without_flagged=without_flagged,
        competitions=len(a),
        a=100 * statistics.fmean(shares_a),
        b=100 * statistics.fmean(shares_b),
        **asdict(found, recurse=False),
    )


def _pair(competition: str, a: Sequence[Graded], b: Sequence[Graded], goal: str) -> Pair:
    lower = next((item.report.is_lower_better for item in [*a, *b] if item.report), False)
    share_a, share_b = (100 * statistics.fmean(bool(getattr(item.outcome, goal)) for item in items) for items in (a, b))
    return Pair(
        competition=competition,
        a=share_a,
        b=share_b,
        difference=share_a - share_b,
        a_score=mean_score(a),
        b_score=mean_score(b),
        a_wins=chance_to_win([_quality(item, lower) for item in a], [_quality(item, lower) for item in b]),
    )


def _quality(item: Graded, lower_is_better: bool) -> float:
    """The score, negated if lower is better; -inf without a valid submission."""
    report = item.report
    if report is None or not report.valid_submission or report.exact is None or math.isnan(report.exact):
        return -math.inf
    return -report.exact if lower_is_better else report.exact


def mean_score(items: Iterable[Graded]) -> float | None:
    """The mean over valid submissions; None without any."""
    scores = [item.report.score for item in items if item.report and item.report.score is not None]
    return statistics.fmean(scores) if scores else None


@frozen(kw_only=True)
class Change:
    """One competition in the editions of two setups of the same agent. Scores and positions are means."""

    a: str  # key of the setup on v1, or on the edition that was reported first
    b: str
    competition: str
    changes: str | None  # what b's edition changes from v1; None: the competition is not installed
    comparability: Comparability | None  # of the edition's medals with v1's
    a_score: float | None  # of valid submissions
    b_score: float | None
    difference: float | None  # b - a; None also where the editions have different metrics
    a_position: float | None  # from 0 (the sample submission) to 1 (gold)
    b_position: float | None


def changes(keyed: Sequence[tuple[str, Setup]]) -> Iterator[Change]:
    """For each pair of setups (with their keys) that differ in the edition only."""
    keyed = sorted(keyed, key=lambda pair: pair[1].edition != "v1")
    for (a, of_a), (b, of_b) in itertools.combinations(keyed, 2):
        if differ_in_edition(of_a, of_b):
            runs_a, runs_b = by_competition(of_a.counted), by_competition(of_b.counted)
            for competition in sorted(runs_a.keys() & runs_b.keys()):
                yield _change(a, b, competition, runs_a[competition], runs_b[competition])


def _change(a: str, b: str, competition: str, runs_a: Sequence[Graded], runs_b: Sequence[Graded]) -> Change:
    before, after = (edition_facts(competition, runs[0].run.edition) for runs in (runs_a, runs_b))
    edition = after.editions.get(after.edition) if after else None
    score_a, score_b = mean_score(runs_a), mean_score(runs_b)
    same = before is None or after is None or before.metric == after.metric
    return Change(
        a=a,
        b=b,
        competition=competition,
        changes=edition.changes if edition else None,
        comparability=edition.thresholds if edition else None,
        a_score=score_a,
        b_score=score_b,
        difference=score_b - score_a if same and score_a is not None and score_b is not None else None,
        a_position=mean_positions({competition: runs_a}).get(competition),
        b_position=mean_positions({competition: runs_b}).get(competition),
    )
