"""The rules of a leaderboard, applied to an entry's results: conditions, competitions, seeds, budgets, findings."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from attrs import frozen
from mle_ext_report.cells import some
from mle_ext_report.conditions import OF_A_COMPETITION

from mle_ext_leaderboard.board import Rules
from mle_ext_leaderboard.disclosures import HARDWARE, compare
from mle_ext_leaderboard.entry import Entry
from mle_ext_leaderboard.results import Results, RunResult
from mlecore.util.units import counted

Level = Literal["error", "undecided", "warning", "note"]
MAY_DIFFER = ("gateway",)  # the address of the same model
TABLE = ("edition", "data", "time limit", HARDWARE, "network")
"""Conditions of a table; of entries that differ in them, none is better."""

_OVER = 1.05  # a run may take a little longer than its limit: it is given time to end
_NAMED = 3


@frozen(kw_only=True)
class Remark:
    """One thing that a check found."""

    level: Level
    check: str  # schema, signature, hashes, results, regrading, disclosures, conditions, complete, budget, findings
    words: str


def rejection(check: str, words: str) -> Remark:
    """For which an entry is rejected."""
    return Remark(level="error", check=check, words=words)


def apply_rules(rules: Rules, sets: Mapping[str, Sequence[str]], entry: Entry, results: Results) -> Iterator[Remark]:
    """Everything that can be said without the export."""
    for line in compare(entry, results):
        if line.verdict == "contradicted":
            words = f"{line.name}: the entry says {line.claimed}, the records say {line.records}"
            yield Remark(level="error", check="disclosures", words=words)
    yield from _conditions(rules, results)
    yield from _complete(rules, sets, results)
    yield from _budget(rules, results)
    yield from _findings(results)


def _conditions(rules: Rules, results: Results) -> Iterator[Remark]:
    if len(results.setups) > 1:
        yield rejection(
            "conditions", f"the export has {len(results.setups)} setups; an entry is one agent with its options"
        )
    for name, values in results.conditions.items():
        if len(values) > 1 and not name.startswith(OF_A_COMPETITION) and name not in MAY_DIFFER:
            yield rejection("conditions", f"{name} differs between the runs: {', '.join(values[:_NAMED])}")
    for name, values in results.digests.items():
        if len(values) > 1:
            yield rejection("conditions", f"data, answers, description or grader of {name} differ between its runs")
    if rules.data == "published" and results.data != "published":
        yield rejection("conditions", f"the runs worked on {results.data} data; this leaderboard takes published data")


def _complete(rules: Rules, sets: Mapping[str, Sequence[str]], results: Results) -> Iterator[Remark]:
    if not (covered := covered_sets(sets, results)):
        nearest = min(sets, key=lambda name: len({*sets[name]} - {*results.competitions}))
        missing = sorted({*sets[nearest]} - {*results.competitions})
        words = f"no set of competitions is complete; {nearest} lacks {some(missing)}"
        yield rejection("complete", words)
        return
    wanted = sorted({id for name in covered for id in sets[name]})
    if len(results.seeds) < rules.seeds:
        yield rejection("complete", f"{counted(len(results.seeds), 'seed')}; at least {rules.seeds} are needed")
    if not results.has_first_seeds:
        seeds = some([*map(str, results.seeds)])
        words = f"the seeds are {seeds}, not 0 to {len(results.seeds) - 1}: they may have been selected from more runs"
        yield Remark(level="warning", check="complete", words=words)
    graded = {(run.competition, run.seed) for run in results.runs if run.state == "graded"}
    for seed in results.seeds:
        missing = [id for id in wanted if (id, seed) not in graded]
        if missing:
            yield rejection("complete", f"seed {seed} has no graded run of {some(missing)}")


def covered_sets(sets: Mapping[str, Sequence[str]], results: Results) -> list[str]:
    """Names of the sets of which every competition was run."""
    return [name for name, ids in sets.items() if {*ids} <= {*results.competitions}]


def _budget(rules: Rules, results: Results) -> Iterator[Remark]:
    longest = max(run.limit_hours for run in results.runs)
    if longest > rules.max_hours:
        yield rejection("budget", f"the time limit was {longest:g} h; at most {rules.max_hours:g} h are allowed")
    over = [run for run in results.runs if run.hours is not None and run.hours > _OVER * run.limit_hours + 0.1]
    if over:
        yield rejection(
            "budget",
            f"{counted(len(over), 'run')} took longer than the time limit: {some([*map(_name, over)])}",
        )
    costs = [run.usd for run in results.runs if run.usd is not None]
    if rules.max_usd is None:
        return
    if sum(costs) > rules.max_usd:
        yield rejection("budget", f"the models cost {sum(costs):.2f} USD; at most {rules.max_usd:g} USD are allowed")
    elif unknown := results.recorded.unknown_cost:
        words = (
            f"the cost of the models is unknown in {counted(unknown, 'run')}; at most {rules.max_usd:g} USD are allowed"
        )
        yield Remark(level="undecided", check="budget", words=words)


def _findings(results: Results) -> Iterator[Remark]:
    for level, verdict in (("error", "violation"), ("warning", "suspicious")):
        flagged = [run for run in results.runs if any(found.startswith(f"{verdict}:") for found in run.findings)]
        if flagged:
            first = next(found for found in flagged[0].findings if found.startswith(f"{verdict}:"))
            words = f"{counted(len(flagged), 'run')} ({some([*map(_name, flagged)])}): {first}"
            yield Remark(level="error" if level == "error" else "warning", check="findings", words=words)
    if not any(judged for judged, _ in results.judged.values()):
        yield Remark(level="warning", check="findings", words="no detector judged the runs: mlecore detect GROUP")
    for detector, (judged, of) in results.judged.items():
        if judged < of:
            which = f"{judged} of {of} runs" if judged else "no run, although the plan names it"
            yield Remark(level="warning", check="findings", words=f"judged by {detector} {which}")


def table_key(name: str, ids: Sequence[str], results: Results) -> tuple[tuple[str, str], ...]:
    """The conditions that entries of one table share; with the very data, answers and graders, in short."""
    data = hashlib.sha256("\n".join(f"{id} {results.digests.get(id, ())}" for id in sorted(ids)).encode())
    shared = {each: " / ".join(results.conditions.get(each, ("unknown",))) for each in TABLE}
    return ("competitions", f"{name} ({len(ids)})"), *shared.items(), ("data digest", data.hexdigest()[:12])


def _name(run: RunResult) -> str:
    return f"{run.competition} seed {run.seed}"
