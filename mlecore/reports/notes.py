"""What a reader of the numbers must know, in sentences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mlecore.data.prepared import NO_MEDALS
from mlecore.reports.compare import goal_of
from mlecore.reports.document import SplitSummary
from mlecore.reports.setups import Setup


def no_medals(setup: Setup) -> str:
    """Why the setup earns no medals."""
    kinds = {item.report.data_kind if item.report else item.run.data_kind for item in setup.runs}
    reasons = [why for kind, why in NO_MEDALS.items() if kind in kinds]
    return f"No medals: {'; '.join(reasons) or 'no human leaderboard'}."


def notes(setup: Setup, rates: Sequence[SplitSummary]) -> Iterable[str]:
    """The sentences about one setup."""
    if goal_of(setup.runs) != "any_medal":
        yield no_medals(setup)
    beaten = [item.outcome.beats_sample for item in setup.counted if item.outcome.beats_sample is not None]
    if beaten:
        yield f"{sum(beaten)} of {count_runs(len(beaten))} beat the sample submission."
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
        yield f"Not counted, as they have not been graded: {count_runs(len(left_out))} ({_some(left_out)})."
    flagged = [item.run.name for item in setup.counted if item.suspicions]
    failed, undecided = (
        [item.run.name for item in setup.counted if any(each.outcome == outcome for each in item.judgements)]
        for outcome in ("failed", "undecided")
    )
    if failed:
        group = setup.counted[0].run.group
        yield (
            f"Detectors failed on {count_runs(len(failed))}, which are not known to be clean: {_some(failed)}; "
            f"`mlecore detect {group}` tries again."
        )
    if undecided:
        count = count_runs(len(undecided))
        yield f"Detectors could not decide about {count}, not known to be clean: {_some(undecided)}."
    if flagged:
        count = count_runs(len(flagged))
        yield f"Detectors flagged {count}: {_some(flagged)}; each rate is given a second time without."


def count_runs(count: int) -> str:
    """Such as "1 run" and "2 runs"."""
    return f"{count} run{'' if count == 1 else 's'}"


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:5]) + (" ..." if len(names) > 5 else "")
