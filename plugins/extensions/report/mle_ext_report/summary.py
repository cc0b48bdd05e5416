"""From graded runs to the Document of a report."""

from __future__ import annotations

import itertools
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime

from mle_ext_report.benchmark import Listed, listed, split_ids, task_family
from mle_ext_report.cells import some
from mle_ext_report.compare import Side, any_flagged, by_competition, changes, compare, corrected, counts, goal_of
from mle_ext_report.conditions import differences, shared
from mle_ext_report.document import Coverage, Document, PassAtK, SetupSummary, Slice, SplitSummary
from mle_ext_report.graded import Graded
from mle_ext_report.lines import run_line
from mle_ext_report.names import small_print
from mle_ext_report.notes import no_medals, notes, own
from mle_ext_report.pages.marks import letter
from mle_ext_report.percentile import marks_of, mean_marks
from mle_ext_report.position import mean_positions
from mle_ext_report.progress import DAY, progress
from mle_ext_report.published import SOURCE, published
from mle_ext_report.rates import FAILURE, PERCENTILE, RATES, Outcome, SplitRates, all_rates, split_rates
from mle_ext_report.setups import Setup, are_halves, seeds, setups
from mle_ext_report.statistics import Counts, Interval, mean_interval, pass_at_k, rate_interval
from mle_ext_report.tallies import costs, detectors, failures, outcomes, process_ends
from mlecore.errors import UsageError


def summarise(
    graded: Iterable[Graded],
    *,
    competitions: Sequence[str] = (),
    trained_on: Sequence[str] = (),
    pad_missing: bool = False,
    mix: bool = False,
    against_published: bool = False,
) -> Document:
    """A whole report on planned runs, including missing ones.

    ``competitions`` limits it to these; those of ``trained_on`` (ids, or splits) are left out. ``pad_missing`` counts
    missing runs as failures; else they are left out. ``mix`` averages and compares where conditions differ. Raises
    UsageError if no run is left.
    """
    from importlib.metadata import version

    graded = list(graded)
    planned = sorted({item.run.competition for item in graded})
    trained = _trained_on(trained_on, planned)
    if {*trained} & {*planned, *competitions}:
        competitions = [id for id in competitions or planned if id not in trained]
        if not competitions:
            raise UsageError("a model was trained on every competition of the report, so nothing is left to report")
    found = setups(item for item in graded if not competitions or item.run.competition in competitions)
    if not found:
        raise UsageError(f"none of the runs is on {some(competitions)}", fix=f"There are runs on {some(planned, 10)}.")
    shortest = min(item.run.limits.time for setup in found for item in setup.runs)
    summaries = tuple(
        setup_summary(letter(number), setup, competitions, pad_missing, mix, shortest)
        for number, setup in enumerate(found)
    )
    averaged = [
        (setup, Side(key=summary.key, runs=_counted(setup, pad_missing), planned=_competitions(setup)))
        for summary, setup in zip(summaries, found, strict=True)
        if summary.averaged
    ]
    pairs = (
        compare(a, b, mix) for (of_a, a), (of_b, b) in itertools.combinations(averaged, 2) if not are_halves(of_a, of_b)
    )
    return Document(
        created_at=datetime.now(UTC).isoformat(timespec="seconds"),
        mlecore=version("mlecore"),
        setups=summaries,
        comparisons=corrected([pair for pair in pairs if pair]),
        trained_on=trained,
        published=published() if against_published else (),
        published_source=SOURCE if against_published else None,
        own=tuple(own(summary) for summary in summaries) if against_published else (),
        editions=tuple(changes([(side.key, setup) for setup, side in averaged])),
    )


def _trained_on(words: Sequence[str], planned: Sequence[str]) -> tuple[str, ...]:
    """Ids of all competitions that are named. A misspelled name would leave a competition in, so it is an error."""
    found = {word: split_ids(word) or (word,) * (word in planned or listed(word) != Listed(id=word)) for word in words}
    if unknown := [word for word in words if not found[word]]:
        raise UsageError(
            f"{some(unknown)}: no competition or split has this name, so it cannot be left out of the report",
            fix="Write one name a line, as `mlecore competitions list` spells it, or a split such as low.",
        )
    return tuple(sorted({id for ids in found.values() for id in ids}))


def _competitions(setup: Setup) -> frozenset[str]:
    return frozenset(item.run.competition for item in setup.runs)


def _counted(setup: Setup, pad: bool) -> list[Graded]:
    """The runs that enter the figures: with or without missing ones, which count as failures."""
    return list(setup.runs) if pad else setup.counted


def setup_summary(
    key: str,
    setup: Setup,
    competitions: Sequence[str] = (),
    pad: bool = False,
    mix: bool = False,
    shortest: float = DAY,
) -> SetupSummary:
    """One setup, called ``key``. ``shortest``: the time limit in seconds up to which progress over time is shown."""
    graded = setup.counted
    differ = differences(item.run for item in graded)
    averaged = mix or not differ
    planned = setup.runs if averaged else ()
    counted = _counted(setup, pad) if averaged else []
    by_id = by_competition(counted)
    planned_runs = Counter(item.run.competition for item in planned)
    goal = goal_of(setup.runs)
    places = mean_positions(by_id)
    kinds = RATES if goal == "any_medal" else (*RATES, goal)
    rates = tuple(_splits(planned, competitions, pad, kinds, setup.edition))
    coverage = _coverage(setup, pad)
    columns = {item.run.uid: column for column, part in seeds(setup.runs).items() for item in part.values()}
    return SetupSummary(
        key=key,
        name=setup.name,
        small_print=small_print(setup.first, setup.name),
        agent=f"{setup.first.agent.name} {setup.first.agent.version}".strip(),
        label=setup.first.label,
        options=setup.first.agent.options,
        model=setup.first.model,
        edition=setup.edition,
        data_kinds=tuple(dict.fromkeys(item.run.data_kind for item in setup.runs if item.run.data_kind)),
        half=setup.half,
        goal=goal,
        no_medals=None if goal == "any_medal" else no_medals(setup),
        groups=tuple(dict.fromkeys(item.run.group for item in setup.runs)),
        coverage=coverage,
        conditions=shared(item.run for item in graded),
        differences=differ,
        averaged=averaged,
        rates=rates,
        pass_at_k=_pass_at_k(planned_runs, by_id, goal),
        slices=tuple(_slices(planned_runs, by_id, goal)),
        position=statistics.fmean(places.values()) if places else None,
        position_competitions=len(places),
        position_interval=mean_interval(list(places.values()), sum(len(by_id[id]) for id in places)),
        progress=progress(counted, shortest),
        costs=costs(graded if averaged else []),
        failures=failures(setup.runs),
        process_ends=process_ends(setup.runs),
        outcomes=outcomes(setup.runs),
        flagged=sum(bool(item.suspicions) for item in graded),
        detectors=detectors(graded),
        runs=tuple(run_line(item, columns.get(item.run.uid, str(item.run.seed))) for item in setup.runs),
        notes=tuple(notes(setup, rates, coverage)),
    )


def _coverage(setup: Setup, pad: bool) -> Coverage:
    graded = {item.run.competition for item in setup.counted}
    competitions = sorted(_competitions(setup))
    return Coverage(
        planned_runs=len(setup.runs),
        graded_runs=len(setup.counted),
        planned_competitions=len(competitions),
        missing=Counter(item.run.state for item in setup.runs if not item.counts),
        without_runs=tuple(competition for competition in competitions if competition not in graded),
        padded=pad,
    )


def _splits(
    planned: Sequence[Graded], competitions: Sequence[str], pad: bool, kinds: Sequence[str], edition: str
) -> Iterable[SplitSummary]:
    """Rates of a setup's planned runs, with intervals: over ``competitions``, or without any over its splits."""
    by_seed = seeds(planned)
    outcomes = {seed: {id: item.outcome for id, item in part.items()} for seed, part in by_seed.items()}
    flagged = any(item.suspicions for item in planned if item.counts)
    clean = {seed: {id: item.unflagged for id, item in part.items()} for seed, part in by_seed.items()}
    marks = {item.run.competition: of for item in planned if item.report and (of := marks_of(item.report))}
    for row in all_rates(outcomes, competitions, pad, kinds, edition):
        yield SplitSummary(
            rates=row,
            intervals={
                kind: None if rate is None else _interval(kind, row, outcomes) for kind, rate in row.rates.items()
            },
            without_flagged=split_rates(row.split, row.ids, clean, pad, kinds, edition).rates if flagged else None,
            marks=mean_marks(marks, row.counted(PERCENTILE)) if row.rates.get(PERCENTILE) else {},
        )


def _interval(kind: str, row: SplitRates, outcomes: Mapping[str, Mapping[str, Outcome]]) -> Interval | None:
    """Over competitions, in percent, of exactly the runs that the rate counts."""
    ids = row.counted(kind)
    means = [statistics.fmean(outcomes[seed].get(id, FAILURE).share(kind) for seed in row.seeds) for id in ids]
    found = mean_interval(means, len(ids) * len(row.seeds))
    return None if found is None else (100 * found[0], 100 * found[1])


def _pass_at_k(planned: Mapping[str, int], runs: Mapping[str, Sequence[Graded]], goal: str) -> tuple[PassAtK, ...]:
    counted = counts(runs, goal)
    unflagged = counts(runs, goal, unflagged=True) if any_flagged(runs) else {}
    most = max((n for _, n in counted.values()), default=0)

    def share(k: int, of: Mapping[str, tuple[int, int]]) -> float | None:
        shares = [pass_at_k(n, c, k) for c, n in of.values() if n >= k]
        return 100 * statistics.fmean(shares) if shares else None

    return tuple(
        PassAtK(
            k=k,
            competitions=sum(n >= k for _, n in counted.values()),
            planned=sum(n >= k for n in planned.values()),
            share=share(k, counted) or 0.0,
            without_flagged=share(k, unflagged),
        )
        for k in range(1, most + 1)
    )


def _slices(planned: Mapping[str, int], runs: Mapping[str, Sequence[Graded]], goal: str) -> Iterable[Slice]:
    """A slice of each kind that has planned competitions, if there are several kinds, and one of them has
    several competitions.

    ``planned``: competition -> runs that were planned; ``runs`` are those that count.
    """

    flagged = any_flagged(runs)
    for by, kind in (
        ("modality", lambda known: known.modality),
        ("task", lambda known: task_family(known.task)),
    ):
        values: dict[str, list[str]] = {}
        for competition in planned:
            values.setdefault(kind(listed(competition)) or "unknown", []).append(competition)
        if 1 < len(values) < len(planned):
            for value, ids in sorted(values.items(), key=lambda pair: (pair[0] == "unknown", pair[0])):
                kept = {id: runs[id] for id in ids if id in runs}
                yield _slice(by, value, {id: planned[id] for id in ids}, kept, goal, flagged)


def _slice(
    by: str,
    value: str,
    planned: Mapping[str, int],
    runs: Mapping[str, Sequence[Graded]],
    goal: str,
    flagged: bool,
) -> Slice:
    reached, valid, places = counts(runs, goal), counts(runs, "valid"), mean_positions(runs)
    return Slice(
        by=by,
        value=value,
        competitions=len(runs),
        planned_competitions=len(planned),
        runs=sum(map(len, runs.values())),
        planned_runs=sum(planned.values()),
        goal=_mean_share(reached),
        goal_without_flagged=_mean_share(counts(runs, goal, unflagged=True)) if flagged else None,
        interval=rate_interval(reached),
        valid=_mean_share(valid),
        position=statistics.fmean(places.values()) if places else None,
    )


def _mean_share(counted: Counts) -> float | None:
    """The mean over competitions of the share of runs that succeeded, in percent; None without any."""
    return 100 * statistics.fmean(wins / runs for wins, runs in counted.values()) if counted else None
