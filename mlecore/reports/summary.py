"""From graded runs to the Document of a report."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime

from mlecore.reports.benchmark import split_ids
from mlecore.reports.beside import beside
from mlecore.reports.compare import any_flagged, by_competition, compare, counts, goal_of
from mlecore.reports.conditions import differences, shared
from mlecore.reports.costs import costs
from mlecore.reports.document import Document, PassAtK, SetupSummary, SplitSummary
from mlecore.reports.failures import ends, failures
from mlecore.reports.graded import Graded
from mlecore.reports.judged import detectors
from mlecore.reports.lines import run_line
from mlecore.reports.notes import no_medals, notes
from mlecore.reports.own import own
from mlecore.reports.progress import progress
from mlecore.reports.published import SOURCE, published
from mlecore.reports.rates import (
    FAILURE,
    MEDAL_RATES,
    RATES,
    Outcome,
    SplitRates,
    all_rates,
    split_rates,
)
from mlecore.reports.setups import Setup, kept, seeds, setups
from mlecore.reports.slices import positions, slices
from mlecore.reports.statistics import bootstrap_mean, bootstrap_rate, pass_at_k


def summarise(
    graded: Iterable[Graded],
    *,
    competitions: Sequence[str] = (),
    pad_missing: bool = False,
    mix: bool = False,
    against_published: bool = False,
) -> Document:
    """All that a report says.

    ``competitions`` limits it to these. ``pad_missing`` counts runs that an incomplete seed lacks as failures. ``mix``
    averages and compares where conditions differ.
    """
    from importlib.metadata import version

    found = setups(kept(graded, competitions))
    summaries = tuple(_setup(_key(number), setup, competitions, pad_missing, mix) for number, setup in enumerate(found))
    averaged = {summary.key: setup.counted for summary, setup in zip(summaries, found, strict=True) if summary.averaged}
    usable = [(f"{summary.key}: {summary.title}", averaged[summary.key]) for summary in summaries if summary.averaged]
    pairs = (compare(a, b, mix) for a, b in itertools.combinations(usable, 2))
    return Document(
        created_at=datetime.now(UTC).isoformat(timespec="seconds"),
        mlecore=version("mlecore"),
        setups=summaries,
        beside=beside(averaged) if len(averaged) > 2 else None,
        comparisons=tuple(pair for pair in pairs if pair),
        published=published() if against_published else (),
        published_source=SOURCE if against_published else None,
        own=tuple(own(summary) for summary in summaries) if against_published else (),
    )


def _key(number: int) -> str:
    """A ... Z, AA, AB ..."""
    return (_key(number // 26 - 1) if number >= 26 else "") + chr(ord("A") + number % 26)


def _setup(key: str, setup: Setup, competitions: Sequence[str], pad: bool, mix: bool) -> SetupSummary:
    counted = setup.counted
    differ = differences(item.run for item in counted)
    averaged = mix or not differ
    shown = counted if averaged else []
    by_id = by_competition(shown)
    goal = goal_of(setup.runs)
    places = positions(by_id)
    columns = {item.run.uid: column for column, part in seeds(counted).items() for item in part.values()}
    kinds = RATES if goal == "any_medal" else (*RATES, goal)
    rates = tuple(_split_summaries(shown, competitions, pad, kinds))
    return SetupSummary(
        key=key,
        title=setup.title,
        goal=goal,
        no_medals=None if goal == "any_medal" else no_medals(setup),
        groups=tuple(dict.fromkeys(item.run.group for item in setup.runs)),
        conditions=shared(item.run for item in counted),
        differences=differ,
        averaged=averaged,
        rates=rates,
        pass_at_k=_pass_at_k(by_id, goal),
        slices=tuple(slices(by_id, goal)),
        position=statistics.fmean(places.values()) if places else None,
        position_interval=bootstrap_mean(list(places.values())),
        progress=progress(shown),
        costs=costs(shown),
        failures=failures(setup.runs),
        ends=ends(setup.runs),
        flagged=sum(bool(item.suspicions) for item in counted),
        detectors=detectors(counted),
        runs=tuple(run_line(item, columns.get(item.run.uid, str(item.run.seed))) for item in setup.runs),
        notes=tuple(notes(setup, rates)),
    )


def _split_summaries(
    runs: Sequence[Graded], competitions: Sequence[str], pad: bool, kinds: Sequence[str]
) -> Iterable[SplitSummary]:
    by_seed = seeds(runs)
    outcomes = {seed: {id: item.outcome for id, item in part.items()} for seed, part in by_seed.items()}
    flagged = any(item.suspicions for item in runs)
    clean = {seed: {id: item.unflagged for id, item in part.items()} for seed, part in by_seed.items()}
    for row in all_rates(outcomes, competitions, pad, kinds):
        wanted = competitions or _ids(row, outcomes)
        yield SplitSummary(
            rates=row,
            intervals={
                kind: None if rate is None else bootstrap_rate(_counts(kind, row, wanted, outcomes))
                for kind, rate in row.rates.items()
            },
            without_flagged=split_rates(row.split, wanted, clean, pad, kinds).rates if flagged else None,
        )


def _ids(row: SplitRates, outcomes: Mapping[str, Mapping[str, Outcome]]) -> Sequence[str]:
    if row.split == "these":
        return tuple(sorted({id for part in outcomes.values() for id in part}))
    return split_ids(row.split.lower())


def _counts(
    kind: str, row: SplitRates, wanted: Sequence[str], outcomes: Mapping[str, Mapping[str, Outcome]]
) -> dict[str, tuple[int, int]]:
    """Of exactly the runs that the rate counts."""
    left_out = row.unranked if kind in MEDAL_RATES else ()
    return {
        id: (sum(bool(getattr(outcomes[seed].get(id, FAILURE), kind)) for seed in row.seeds), len(row.seeds))
        for id in wanted
        if id not in left_out
    }


def _pass_at_k(runs: Mapping[str, Sequence[Graded]], goal: str) -> tuple[PassAtK, ...]:
    counted = counts(runs, goal).values()
    unflagged = counts(runs, goal, unflagged=True).values() if any_flagged(runs) else ()
    most = max((n for _, n in counted), default=0)

    def share(k: int, of: Iterable[tuple[int, int]]) -> float | None:
        shares = [pass_at_k(n, c, k) for c, n in of if n >= k]
        return 100 * statistics.fmean(shares) if shares else None

    return tuple(
        PassAtK(
            k=k,
            competitions=sum(n >= k for _, n in counted),
            share=share(k, counted) or 0.0,
            without_flagged=share(k, unflagged),
        )
        for k in range(1, most + 1)
    )
