"""What became of an agent's scores from one edition of the competitions to another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attrs import frozen

from mlecore.facts import Comparability
from mlecore.reports.benchmark import edition_facts
from mlecore.reports.compare import by_competition, mean_score
from mlecore.reports.graded import Graded
from mlecore.reports.position import mean_positions
from mlecore.reports.setups import Setup, differ_in_edition


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
    for number, (a, of_a) in enumerate(keyed):
        for b, of_b in keyed[number + 1 :]:
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
