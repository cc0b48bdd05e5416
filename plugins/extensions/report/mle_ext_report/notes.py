"""Sentences about one setup: what its figures include, and what casts doubt on them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from mle_ext_report.cells import one_line, some
from mle_ext_report.compare import goal_of
from mle_ext_report.document import Coverage, Own, SetupSummary, SplitSummary
from mle_ext_report.graded import Graded
from mle_ext_report.rates import SplitRates
from mle_ext_report.setups import Setup
from mle_ext_report.tallies import detectors
from mlecore.model.data_kind import no_medals as no_medals_on
from mlecore.model.record import RunRecord
from mlecore.util.units import counted

_FEW_FAILED, _MANY_FAILED = 3, 0.1  # more failed calls than this, and a larger share of all, are worth a note


def no_medals(setup: Setup) -> str:
    """Why the setup earns no medals; if there are several reasons, each with its competitions."""
    reasons: dict[str, dict[str, None]] = {}
    for item in setup.runs:
        kind, comparability = (item.report or item.run).data_kind, item.report.comparability if item.report else "same"
        if kind and (kind, comparability) != ("published", "same"):
            why = no_medals_on(kind, comparability)
            reasons.setdefault(why, {})[item.run.competition] = None
    if len(reasons) > 1:
        return f"No medals: {'; '.join(f'{why} ({some(list(ids))})' for why, ids in reasons.items())}."
    return f"No medals: {next(iter(reasons), 'no human leaderboard')}."


def notes(setup: Setup, rates: Sequence[SplitSummary], coverage: Coverage) -> Iterable[str]:
    """The sentences about one setup."""
    yield from _coverage(setup, coverage)
    yield from _marked(setup)
    yield from _beaten(setup, coverage)
    yield from _among_agents(setup)
    planned = {item.run.competition for item in setup.runs}
    yield from _incomplete_seeds([row.rates for row in rates if planned.issuperset(row.rates.ids)])
    for row in (summary.rates for summary in rates):
        if row.split == "these" and (unplanned := [id for id in row.ids if id not in planned]):
            yield f"Chosen competitions that no run was planned on: {some(unplanned)}."
        if row.left_out and row.seeds and goal_of(setup.runs) == "any_medal":
            yield f"Medal rates over {row.split} count {row.left_out}."
        if row.unplaced_words and row.seeds:
            yield f"Percentiles over {row.split} count {row.unplaced_words}."
    group = setup.counted[0].run.group if setup.counted else ""  # else none of what follows is said
    others = [item.run.name for item in setup.counted if item.report and item.report.began_with]
    if others:
        yield f"Graded on request by another plugin than the one that their group started with: {some(others)}."
    ungraded = [item.run.name for item in setup.counted if item.report is None]
    if ungraded:
        yield f"Not graded yet, and no medal until then: {some(ungraded)}; `mlecore runs resume {group}` grades them."
    yield from _model_notes(setup)
    forced = [item.run for item in setup.runs if item.run.forced]
    if forced:
        were = some([f"{run.name} (was {_results(run)})" for run in forced])
        yield f"Results were replaced by hand (`runs retry --force`) in {counted(len(forced), 'run')}: {were}."
    failed, undecided = (
        [item.run.name for item in setup.counted if any(each.outcome == outcome for each in item.judgements)]
        for outcome in ("failed", "undecided")
    )
    gaps = [use.gap for use in detectors(setup.counted) if use.gap]
    if gaps:
        yield f"Judged {', '.join(gaps)}; `mlecore detect {group}` judges the others."
    if failed:
        yield (
            f"Detectors failed on {counted(len(failed), 'run')}, which may not be clean: {some(failed)}; "
            f"`mlecore detect {group}` tries again."
        )
    if undecided:
        runs = counted(len(undecided), "run")
        yield f"Detectors could not decide about {runs}, which may not be clean: {some(undecided)}."


def _marked(setup: Setup) -> Iterable[str]:
    """Competitions whose medals do not mean quite what they mean in v1."""
    near = {item.run.competition for item in setup.runs if item.report and item.report.comparability == "near"}
    if near:
        yield (
            f"Edition {setup.runs[0].run.edition} splits the data of these competitions otherwise, or has more inputs; "
            f"their medals are only near those of v1: {some(sorted(near), 10)}."
        )


def _coverage(setup: Setup, coverage: Coverage) -> Iterable[str]:
    """The denominator of the rates if it is not simply all runs."""
    runs = counted(coverage.planned_runs, "run")
    competitions = counted(coverage.planned_competitions, "competition")
    missing = [item.run.name for item in setup.runs if not item.counts]
    if not missing:
        return
    states = ", ".join(f"{number} {state}" for state, number in coverage.missing.items())
    of = f"all {runs}" if coverage.padded else f"the {coverage.graded_runs} graded of {runs}"
    how = "counted as failures" if coverage.padded else "left out"
    yield f"Denominator: {of} that were planned, on {competitions}. Missing and {how} ({states}): {some(missing)}."
    if coverage.without_runs and coverage.planned_runs > coverage.planned_competitions:  # else they were just named
        yield f"Planned competitions without a graded run: {some(coverage.without_runs, 10)}."


def _incomplete_seeds(rows: Sequence[SplitRates]) -> Iterable[str]:
    """Seeds without a graded run on some competition of a row, and the effect on the row."""
    uncovered = [f"{row.split} ({row.competitions})" for row in rows if row.incomplete and not row.seeds]
    if uncovered:
        yield (
            f"No rates over {', '.join(uncovered)}: no seed has a graded run on each of their competitions. "
            "--pad-missing counts missing runs as failures."
        )
    for row in rows:
        if row.incomplete and row.seeds:
            seeds = some([f"{seed} ({count} missing)" for seed, count in row.incomplete.items()], 8)
            left_out = f"left out are the seeds {seeds}. --pad-missing counts missing runs as failures."
            yield f"{row.split}: {f'missing runs count as failures in the seeds {seeds}.' if row.padded else left_out}"


def _beaten(setup: Setup, coverage: Coverage) -> Iterable[str]:
    """How many runs beat the sample submission, and what became of the others."""
    runs = setup.runs if coverage.padded else setup.counted
    known = [item.outcome.beats_sample for item in runs if item.outcome.beats_sample is not None]
    if not runs or sum(known) == len(runs) or (not known and goal_of(setup.runs) == "any_medal"):
        return
    others = Counter(_not_compared(item) for item in runs if item.outcome.beats_sample is None)
    same = sum(_as_sample(item) for item in runs)
    others["score the same"], others["score no better"] = same, len(known) - sum(known) - same
    reasons = ", ".join(f"{number} {reason}" for reason, number in others.items() if number)
    yield f"{sum(known)} of {counted(len(runs), 'run')} beat the sample submission{f' ({reasons})' if reasons else ''}."


def _among_agents(setup: Setup) -> Iterable[str]:
    """What runs reached among reference scores, and whose scores those are."""
    known = {item.run.competition: item.report.reference for item in setup.counted if item.report}
    places = Counter(item.report.reference_words for item in setup.counted if item.report)
    shown = ", ".join(f"{number} {words}" for words, number in places.items() if words)
    if not shown:
        return
    whose = [one_line(f"{id}: {', '.join(found.agents)}, {found.date}") for id, found in known.items() if found]
    yield f"Reference scores are those of agents, not medals: {shown}. Agents: {some(whose)}."


def _as_sample(item: Graded) -> bool:
    report = item.report
    return report is not None and report.score is not None and report.exact == report.sample_score


def _not_compared(item: Graded) -> str:
    if item.report is None:
        return "could not be graded" if item.counts else "missing"
    return "without a sample score to beat" if item.outcome.valid else "without a valid submission"


def _model_notes(setup: Setup) -> Iterable[str]:
    """Runs whose model often did not answer."""
    many = [
        (calls.failed / max(calls.calls, calls.failed), f"{item.run.name} ({calls.failed} of {calls.calls}")
        for item in setup.counted
        if (calls := item.run.calls) and calls.failed > max(_FEW_FAILED, _MANY_FAILED * calls.calls)
    ]
    if many:
        names = [f"{name}, {share:.0%})" for share, name in sorted(many, reverse=True)]
        yield f"Many calls to the model failed in {counted(len(many), 'run')}: {some(names)}."
    attempts = ((item.run.name, item.run.attempt) for item in setup.counted)
    last = [name for name, at in attempts if at and at.availability and at.availability.failed_last]
    if last:
        yield (
            f"The model's endpoint failed in the last calls of {counted(len(last), 'run')}: "
            f"{some(last)}. Their results count; `mlecore runs retry --force` repeats them."
        )


def _results(run: RunRecord) -> str:
    return ", then ".join(" ".join(filter(None, (each.status, each.score))) or "unknown" for each in run.forced)


def own(summary: SetupSummary) -> Own:
    """The setup as a line of the published leaderboard."""
    rates = {}
    for row in (split.rates for split in summary.rates):
        any_medal = row.rates["any_medal"]
        if row.split != "these" and any_medal is not None:
            rates[row.split.lower()] = any_medal
    return Own(
        key=summary.key,
        name=summary.name,
        small_print=summary.small_print,
        rates=rates,
        not_comparable=tuple(_not_comparable(summary)),
    )


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
    yield from (f"{row.rates.split} counts {row.rates.left_out}" for row in summary.rates if row.rates.left_out)
    for row in complete:
        if 0 < len(row.seeds) < 3:
            yield f"{len(row.seeds)} of the 3 seeds that entries needed"
        if row.incomplete and row.seeds:
            what = "padded with failures" if row.padded else "left out"
            yield f"{len(row.incomplete)} of {len({*row.seeds, *row.incomplete})} seeds are incomplete and {what}"
    limit = summary.conditions.get("time limit", "different limits")
    if limit != "24h":
        yield f"time limit {limit}; most entries ran 24 h, some 12 or 36 h"
    yield "network access and hardware of the entries differ (from one V100 to two H100s) and are not recorded"
    if summary.flagged:
        yield f"detectors flagged {counted(summary.flagged, 'run')}"
