"""The report as values. Text, Markdown, JSON, CSV and HTML are all made from a Document and compute nothing more."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from attrs import asdict, evolve, frozen

from mlecore.data.prepared import NO_MEDALS, DataKind
from mlecore.reports.benchmark import Listed, listed, size_class, task_family
from mlecore.reports.compare import Comparison, by_competition, compare, counts, goal_of
from mlecore.reports.conditions import differences, shared
from mlecore.reports.costs import Cost, costs
from mlecore.reports.failures import Failure, ends, failures
from mlecore.reports.graded import Graded, Suspicion
from mlecore.reports.judged import DetectorUse, detectors
from mlecore.reports.position import on_axis, position
from mlecore.reports.progress import Instant, progress
from mlecore.reports.published import SOURCE, Entry, published
from mlecore.reports.rates import FAILURE, MEDAL_RATES, Outcome, Rate, SplitRates, all_rates, split_rates
from mlecore.reports.setups import Setup, kept, seeds, setups
from mlecore.reports.statistics import Interval, bootstrap_mean, bootstrap_rate, pass_at_k


@frozen(kw_only=True)
class RunLine:
    """One run. None means that there is no such value: without published data, medal and above_median."""

    run: str
    group: str
    competition: str
    split: str | None
    seed: int
    column: str  # its seed among all of the setup's: "0", or "0 of <group>" where two groups ran the same
    state: str
    ended: str | None
    reason: str
    data_kind: DataKind | None  # that it worked on; None: it has not begun
    submission: str  # "valid", "invalid", "none", "not graded", or the state of a run that does not count
    why: str  # why it is invalid, or not graded
    score: float | None
    score_text: str | None
    lower_is_better: bool | None
    medal: str | None  # "gold", "silver", "bronze" or "none"
    above_median: bool | None
    gold_threshold: float | None
    silver_threshold: float | None
    bronze_threshold: float | None
    median_threshold: float | None
    sample_score: float | None
    beats_sample: bool | None
    position: float | None  # from 0 (the sample submission) to 1 (gold)
    marks: Mapping[str, float]  # where bronze, silver and the median lie on that axis
    rank: int | None
    teams: int | None
    percentile: float | None
    hours: float | None
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None
    suspicions: tuple[Suspicion, ...]
    judged: Mapping[str, str]  # detector -> "violation", "suspicious", "failed", "undecided" or "clean"


@frozen(kw_only=True)
class SplitSummary:
    """The benchmark's rates over one list of competitions, and what they leave out."""

    rates: SplitRates
    intervals: Mapping[str, Interval | None]  # bootstrap over competitions and runs, in percent
    without_flagged: Mapping[str, Rate | None] | None  # flagged runs as failures; None: no run is flagged


@frozen(kw_only=True)
class PassAtK:
    """The chance in percent that the best of ``k`` runs reaches the goal, as mean over competitions."""

    k: int
    competitions: int  # those with at least k runs
    share: float


@frozen(kw_only=True)
class Slice:
    """Competitions of one kind: the mean share of runs (first over runs, then over competitions), in percent."""

    by: str
    value: str
    competitions: int
    runs: int
    goal: float
    interval: Interval | None
    valid: float
    position: float | None


@frozen(kw_only=True)
class SetupSummary:
    """One agent with its options and model on one kind of data. Lists are empty if averages were refused."""

    key: str  # "A", "B", ... in order of appearance
    title: str
    goal: str  # "any_medal", or "beats_sample" where no medals can be earned
    no_medals: str | None  # why there are none
    groups: tuple[str, ...]
    conditions: Mapping[str, str]
    differences: Mapping[str, Sequence[str]]
    averaged: bool
    rates: tuple[SplitSummary, ...]
    pass_at_k: tuple[PassAtK, ...]
    slices: tuple[Slice, ...]
    position: float | None  # mean over competitions
    position_interval: Interval | None
    progress: tuple[Instant, ...]
    costs: tuple[Cost, ...]
    failures: tuple[Failure, ...]
    ends: Mapping[str, int]
    flagged: int
    detectors: tuple[DetectorUse, ...]  # that judged runs
    runs: tuple[RunLine, ...]
    notes: tuple[str, ...]


@frozen(kw_only=True)
class Own:
    """One's own line among the published ones."""

    key: str
    title: str
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

    @property
    def refused(self) -> bool:
        """Is there a setup whose runs must not be averaged?"""
        return not all(setup.averaged for setup in self.setups)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


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
    usable = [
        (f"{summary.key}: {summary.title}", setup.counted)
        for summary, setup in zip(summaries, found, strict=True)
        if summary.averaged
    ]
    pairs = (compare(a, b, mix) for a, b in itertools.combinations(usable, 2))
    return Document(
        created_at=datetime.now(UTC).isoformat(timespec="seconds"),
        mlecore=version("mlecore"),
        setups=summaries,
        comparisons=tuple(pair for pair in pairs if pair),
        published=published() if against_published else (),
        published_source=SOURCE if against_published else None,
        own=tuple(_own(summary) for summary in summaries) if against_published else (),
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
    places = _positions(by_id)
    columns = {item.run.uid: column for column, part in seeds(counted).items() for item in part.values()}
    rates = tuple(_split_summaries(shown, competitions, pad))
    return SetupSummary(
        key=key,
        title=setup.title,
        goal=goal,
        no_medals=None if goal == "any_medal" else _no_medals(setup),
        groups=tuple(dict.fromkeys(item.run.group for item in setup.runs)),
        conditions=shared(item.run for item in counted),
        differences=differ,
        averaged=averaged,
        rates=rates,
        pass_at_k=_pass_at_k(by_id, goal),
        slices=tuple(_slices(by_id, goal)),
        position=statistics.fmean(places.values()) if places else None,
        position_interval=bootstrap_mean(list(places.values())),
        progress=progress(shown),
        costs=costs(shown),
        failures=failures(setup.runs),
        ends=ends(setup.runs),
        flagged=sum(bool(item.suspicions) for item in counted),
        detectors=detectors(counted),
        runs=tuple(_line(item, columns.get(item.run.uid, str(item.run.seed))) for item in setup.runs),
        notes=tuple(_notes(setup, rates)),
    )


def _split_summaries(runs: Sequence[Graded], competitions: Sequence[str], pad: bool) -> Iterable[SplitSummary]:
    by_seed = seeds(runs)
    outcomes = {seed: {id: item.outcome for id, item in part.items()} for seed, part in by_seed.items()}
    flagged = any(item.suspicions for item in runs)
    clean = {seed: {id: _clean(item) for id, item in part.items()} for seed, part in by_seed.items()}
    for row in all_rates(outcomes, competitions, pad):
        wanted = competitions or _ids(row, outcomes)
        yield SplitSummary(
            rates=row,
            intervals={
                kind: None if rate is None else bootstrap_rate(_counts(kind, row, wanted, outcomes))
                for kind, rate in row.rates.items()
            },
            without_flagged=split_rates(row.split, wanted, clean, pad).rates if flagged else None,
        )


def _clean(item: Graded) -> Outcome:
    return evolve(FAILURE, ranked=item.ranked) if item.suspicions else item.outcome


def _ids(row: SplitRates, outcomes: Mapping[str, Mapping[str, Outcome]]) -> Sequence[str]:
    from mlecore.reports.benchmark import split_ids

    if row.split == "these":
        return tuple(sorted({id for part in outcomes.values() for id in part}))
    return split_ids(row.split.lower())


def _counts(
    kind: str, row: SplitRates, wanted: Sequence[str], outcomes: Mapping[str, Mapping[str, Outcome]]
) -> dict[str, tuple[int, int]]:
    """Of exactly the runs that the rate counts."""
    left_out = row.unranked if kind in MEDAL_RATES else ()
    return {
        id: (sum(getattr(outcomes[seed].get(id, FAILURE), kind) for seed in row.seeds), len(row.seeds))
        for id in wanted
        if id not in left_out
    }


def _positions(runs: Mapping[str, Sequence[Graded]]) -> dict[str, float]:
    """Competition -> mean position of its runs; those without an axis are left out."""
    found = {}
    for competition, items in runs.items():
        if places := [place for item in items if (place := position(item.report)) is not None]:
            found[competition] = statistics.fmean(places)
    return found


def _pass_at_k(runs: Mapping[str, Sequence[Graded]], goal: str) -> tuple[PassAtK, ...]:
    counted = counts(runs, goal).values()
    most = max((n for _, n in counted), default=0)
    rows = []
    for k in range(1, most + 1):
        shares = [pass_at_k(n, c, k) for c, n in counted if n >= k]
        rows.append(PassAtK(k=k, competitions=len(shares), share=100 * statistics.fmean(shares)))
    return tuple(rows)


def _slices(runs: Mapping[str, Sequence[Graded]], goal: str) -> Iterable[Slice]:
    def year(known: Listed) -> str | None:
        return None if known.year is None else str(known.year)

    for by, kind in (
        ("modality", lambda known: known.modality),
        ("task", lambda known: task_family(known.task)),
        ("size", lambda known: size_class(known.size_gb)),
        ("year", year),
    ):
        values: dict[str, list[str]] = {}
        for competition in runs:
            values.setdefault(kind(listed(competition)) or "unknown", []).append(competition)
        if len(values) > 1:
            for value, ids in sorted(values.items(), key=lambda pair: _size_order(pair[0])):
                yield _slice(by, value, {id: runs[id] for id in ids}, goal)


def _size_order(value: str) -> tuple[float, str]:
    """Sizes by size, everything else by name, unknown last."""
    first = value.removeprefix("less than ").split()[0]
    number = float(first) - value.startswith("less") if first.replace(".", "").isdigit() else 0.0
    return (float("inf") if value == "unknown" else number), value


def _slice(by: str, value: str, runs: Mapping[str, Sequence[Graded]], goal: str) -> Slice:
    reached, valid, places = counts(runs, goal), counts(runs, "valid"), _positions(runs)
    return Slice(
        by=by,
        value=value,
        competitions=len(runs),
        runs=sum(map(len, runs.values())),
        goal=100 * statistics.fmean(c / n for c, n in reached.values()),
        interval=bootstrap_rate(reached),
        valid=100 * statistics.fmean(c / n for c, n in valid.values()),
        position=statistics.fmean(places.values()) if places else None,
    )


def _line(item: Graded, column: str) -> RunLine:
    run, report = item.run, item.report
    usage = run.usage
    medals = report is not None and report.gold_threshold is not None
    submission: str
    if not item.counts:
        submission, why = run.state, run.reason
    elif report is None:
        submission = "not graded"
        why = run.reason if run.state == "collected" else "grade.json cannot be read"
    else:
        submission = {"graded": "valid", "invalid": "invalid", "none": "none"}[report.status]
        why = report.reason if report.status == "invalid" else ""
    marks = {}
    if report and medals:
        for name in ("silver", "bronze", "median"):
            place = on_axis(report, getattr(report, f"{name}_threshold"))
            if place is not None:
                marks[name] = place
    return RunLine(
        run=run.name,
        group=run.group,
        competition=run.competition,
        split=listed(run.competition).split,
        seed=run.seed,
        column=column,
        state=run.state,
        ended=run.ended,
        reason=run.reason,
        data_kind=run.data_kind,
        submission=submission,
        why=why,
        score=report.score if report else None,
        score_text=report.score_text if report else None,
        lower_is_better=report.is_lower_better if report else None,
        medal=(report.medal or "none") if report and medals else None,
        above_median=report.above_median if report and medals else None,
        gold_threshold=report.gold_threshold if report else None,
        silver_threshold=report.silver_threshold if report else None,
        bronze_threshold=report.bronze_threshold if report else None,
        median_threshold=report.median_threshold if report else None,
        sample_score=report.sample_score if report else None,
        beats_sample=report.beats_sample if report else None,
        position=position(report) if item.counts else None,
        marks=marks,
        rank=report.rank if report else None,
        teams=report.teams if report else None,
        percentile=report.percentile if report else None,
        hours=None if run.seconds is None else run.seconds / 3600,
        input_tokens=usage.input_tokens if usage else None,
        output_tokens=usage.output_tokens if usage else None,
        cost_usd=usage.cost_usd if usage else None,
        suspicions=item.suspicions,
        judged={judgement.detector: judgement.outcome for judgement in item.judgements},
    )


def _no_medals(setup: Setup) -> str:
    kinds = {item.report.data_kind if item.report else item.run.data_kind for item in setup.runs}
    reasons = [why for kind, why in NO_MEDALS.items() if kind in kinds]
    return f"No medals: {'; '.join(reasons) or 'no human leaderboard'}."


def _notes(setup: Setup, rates: Sequence[SplitSummary]) -> Iterable[str]:
    """What a reader of the numbers must know."""
    if goal_of(setup.runs) != "any_medal":
        yield _no_medals(setup)
    beaten = [item.outcome.beats_sample for item in setup.counted if item.outcome.beats_sample is not None]
    if beaten:
        yield f"{sum(beaten)} of {_runs(len(beaten))} beat the sample submission."
    for row in (summary.rates for summary in rates):
        if row.incomplete:
            what = "are padded with failures" if row.padded else "are left out; --pad-missing counts it as failed"
            seeds_ = ", ".join(f"{seed} ({count} missing)" for seed, count in list(row.incomplete.items())[:8])
            more = " ..." if len(row.incomplete) > 8 else ""
            where = f"{row.split}, {row.competitions} competitions" if row.split != "these" else "these competitions"
            yield f"Over {where}, seeds that lack a graded run {what}: {seeds_}{more}."
        if row.unranked and row.split == "these" and goal_of(setup.runs) == "any_medal":
            yield f"No medal rate counts these, which have no human leaderboard: {_some(row.unranked)}."
    others = [item.run.name for item in setup.counted if item.report and item.report.began_with]
    if others:
        yield f"Graded by a different plugin than their group began with, on request: {_some(others)}."
    ungraded = [item.run.name for item in setup.counted if item.report is None]
    if ungraded:
        group = setup.counted[0].run.group
        yield (
            f"Could not be graded yet and count as no medal until then: {_some(ungraded)}; "
            f"`mlecore runs resume {group}` grades them."
        )
    left_out = [item.run.name for item in setup.runs if not item.counts]
    if left_out:
        yield f"Not counted, as they have not been graded: {_runs(len(left_out))} ({_some(left_out)})."
    flagged = [item.run.name for item in setup.counted if item.suspicions]
    failed = [item.run.name for item in setup.counted if any(each.outcome == "failed" for each in item.judgements)]
    if failed:
        group = setup.counted[0].run.group
        yield (
            f"Detectors failed on {_runs(len(failed))}, which are not known to be clean: {_some(failed)}; "
            f"`mlecore detect {group}` tries again."
        )
    if flagged:
        yield f"Detectors flagged {_runs(len(flagged))}: {_some(flagged)}; each rate is given a second time without."


def _runs(count: int) -> str:
    return f"{count} run{'' if count == 1 else 's'}"


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:5]) + (" ..." if len(names) > 5 else "")


def _own(summary: SetupSummary) -> Own:
    rates = {}
    for row in (split.rates for split in summary.rates):
        any_medal = row.rates["any_medal"]
        if row.split != "these" and any_medal is not None:
            rates[row.split.lower()] = any_medal
    return Own(key=summary.key, title=summary.title, rates=rates, not_comparable=tuple(_not_comparable(summary)))


def _not_comparable(summary: SetupSummary) -> Iterable[str]:
    """What keeps a setup from being compared with the published entries."""
    if not summary.averaged:
        yield "its own runs differ in their conditions"
    if summary.no_medals:
        yield "its data earn no medals"
    edition = summary.conditions.get("edition")
    if edition not in (None, "v1"):
        yield f"edition {edition} of the competitions; published entries ran v1"
    complete = [row.rates for row in summary.rates if row.rates.split == "All"]
    if not complete or not complete[0].seeds:
        yield "no seed covers all 75 competitions"
    for row in complete:
        if 0 < len(row.seeds) < 3:
            yield f"{len(row.seeds)} of the 3 seeds that entries needed"
        if row.padded and row.incomplete:
            yield "some seeds are padded with failures"
    limit = summary.conditions.get("time limit", "different limits")
    if limit != "1d":
        yield f"time limit {limit}; most entries ran 24 h, some 12 or 36 h"
    yield "network access and hardware of the entries differ (from one V100 to two H100s) and are not recorded"
    if summary.flagged:
        yield f"detectors flagged {_runs(summary.flagged)}"
