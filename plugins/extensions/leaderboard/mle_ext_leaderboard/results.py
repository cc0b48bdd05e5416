"""What an export shows, in short: ``results.json`` beside an entry.

``add`` writes it and ``check`` derives it again from the export, so that the site is built without reading exports.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec
from attrs import evolve, field, frozen
from mle_ext_report.cells import one_line
from mle_ext_report.conditions import all_conditions
from mle_ext_report.graded import Graded, read_graded
from mle_ext_report.percentile import marks_of
from mle_ext_report.progress import progress
from mle_ext_report.rates import Outcome

from mlecore.errors import DataError
from mlecore.model.provenance import file_digest
from mlecore.model.record import WITH_OUTPUT, RunRecord
from mlecore.runs.store import load_group, open_group
from mlecore.util.regular import read_regular
from mlecore.util.schema import SchemaError, parse_json

FILE = "results.json"
LIMIT = 64 * 2**20  # bytes of a results.json
_LARGEST = 1e15  # number of any kind
_FINDINGS = 20  # of one run
_LONGEST = 300  # characters of a finding


@frozen(kw_only=True)
class RunResult:
    """One planned run."""

    competition: str
    seed: int
    state: str  # graded, failed, cancelled ...
    submission: str  # valid, invalid, none; "" if it is not graded
    submission_sha256: str = ""  # of the file; "" without a valid one
    score: str = ""  # every digit
    medal: str = ""  # gold, silver, bronze; "" without one
    reference: str = ""  # place among scores of agents, such as "reference gold": no medal
    ranked: bool  # could it have earned a medal?
    above_median: bool = False
    beats_sample: bool | None = None  # null if nobody knows
    percentile: float | None = None  # among the teams of the human leaderboard; null if that was not at hand
    hours: float | None = None  # used
    limit_hours: float  # time limit
    usd: float | None = None  # of its models
    tokens: int | None = None  # in and out
    findings: tuple[str, ...] = ()  # "verdict: rule: summary", of detectors

    @property
    def outcome(self) -> Outcome:
        """What it earned, for the report's rates; which competitions have medals is known by the table."""
        return Outcome(
            any_medal=bool(self.medal),
            gold=self.medal == "gold",
            silver=self.medal == "silver",
            bronze=self.medal == "bronze",
            valid=self.submission == "valid",
            beats_sample=self.beats_sample,
            percentile=self.percentile,
        )

    @property
    def flagged(self) -> bool:
        """A detector found a violation, or something suspicious."""
        return any(found.startswith(("violation:", "suspicious:")) for found in self.findings)

    @property
    def earns(self) -> bool:
        """Does it raise a rate of the site?"""
        return bool(self.medal or self.beats_sample)


@frozen(kw_only=True)
class Recorded:
    """What the records say about a line of the form of disclosures."""

    replaced: int  # results that were replaced by hand after they had been graded
    network: tuple[str, ...]  # of the runs: none, llm, open
    network_enforced: bool  # on every run
    hosts: tuple[str, ...]  # that the relay let through beside the model's
    mcp: tuple[str, ...]  # MCP servers
    server_tools: bool  # could the model's provider run tools?
    varying: tuple[str, ...]  # what differs between competitions: options, label, files of the agent
    unknown_cost: int  # runs that could use a model, and whose cost is not known, or not whole


@frozen(kw_only=True)
class Results:
    """results.json."""

    format: int = 1  # of this file
    bundle: str  # SHA-256 of the export's bundle.json
    mlecore: str  # the version that wrote it
    groups: tuple[str, ...]
    group_uid: str  # random; the same runs cannot be two entries
    agent: str  # the plugin's name, version and source
    setups: tuple[str, ...]  # agent with options and model; an entry has one
    models: tuple[str, ...]
    edition: str
    data: str  # published, synthetic ...
    # competition -> digests of its data, answers, description and graders; several if the runs differ
    digests: Mapping[str, tuple[str, ...]]
    # competition -> percentiles of the sample submission and the thresholds, where its leaderboard was at hand
    marks: Mapping[str, Mapping[str, float]] = field(factory=dict)
    conditions: Mapping[str, tuple[str, ...]]  # condition -> values; more than one: they differ between the runs
    recorded: Recorded
    detectors: Mapping[str, Mapping[str, int]]  # detector -> outcome -> runs; empty: planned, and judged none
    progress: tuple[tuple[float, float | None, float], ...]  # hours, any medal in %, better than the sample in %
    runs: tuple[RunResult, ...]

    @property
    def seeds(self) -> tuple[int, ...]:
        return tuple(sorted({run.seed for run in self.runs}))

    @property
    def competitions(self) -> tuple[str, ...]:
        return tuple(sorted({run.competition for run in self.runs}))

    @property
    def has_first_seeds(self) -> bool:
        """Are its seeds 0, 1, 2 ...? Others may be the best of more."""
        return self.seeds == tuple(range(len(self.seeds)))

    @property
    def judged(self) -> dict[str, tuple[int, int]]:
        """Detector -> (results that it judged without failing, results)."""
        results = sum(run.state in WITH_OUTPUT for run in self.runs)
        return {name: (sum(of.values()) - of.get("failed", 0), results) for name, of in self.detectors.items()}

    def shown_by(self, export: Results) -> bool:
        """Are these the results of an export, whichever version of mlecore wrote them? Older ones lack percentiles."""
        if not self.marks and all(run.percentile is None for run in self.runs):
            export = evolve(export, marks={}, runs=tuple(evolve(run, percentile=None) for run in export.runs))
        return evolve(export, mlecore=self.mlecore) == self

    def dumps(self) -> bytes:
        return msgspec.json.format(msgspec.json.encode(self), indent=0) + b"\n"


def read_results(folder: Path) -> Results:
    """Raises SchemaError that says what is wrong."""
    path = folder / FILE
    try:
        return _possible(msgspec.convert(parse_json(read_regular(path, LIMIT, below=folder)), type=Results))
    except FileNotFoundError:
        raise SchemaError(f"{path} is missing; `mlecore leaderboard add` writes it") from None
    except (OSError, DataError, ValueError, RecursionError) as error:
        raise SchemaError(f"{path} cannot be read: {error}") from None


def _possible(results: Results) -> Results:
    """Raises SchemaError for results that no runs have."""
    if impossible := next(_impossible(results), ""):
        raise SchemaError(impossible)
    return results


def _impossible(results: Results) -> Iterator[str]:
    """Numbers that no run has; they would break sums and axes."""
    for run in results.runs:
        numbers = [value for value in (run.hours, run.limit_hours, run.usd, run.tokens) if value is not None]
        if not all(0 <= value < _LARGEST for value in numbers):
            yield f"{run.competition} seed {run.seed} has a number that cannot be true: {max(numbers, key=abs):g}"
    if not all(0 <= value < _LARGEST for point in results.progress for value in point if value is not None):
        yield "progress has a number that cannot be true"
    percentiles = [run.percentile for run in results.runs if run.percentile is not None]
    if not all(
        0 <= value <= 100 for of in (percentiles, *(of.values() for of in results.marks.values())) for value in of
    ):
        yield "there is a percentile that cannot be true"
    for (competition, seed), count in Counter((run.competition, run.seed) for run in results.runs).items():
        if count > 1:
            yield f"{competition}, seed {seed} occurs more than once"
    if not results.runs:
        yield "there are no runs"


def results_of(group: Path, bundle: str) -> Results:
    """What the runs in a group's folder show. Raises UsageError, DataError as ``load_group`` does."""

    opened = open_group(group)
    graded = [read_graded(record, opened.plan) for record in load_group(group)]
    if not graded:
        raise DataError(f"{group.name} has no runs")
    records = [each.run for each in graded]
    counting = [each for each in graded if each.counts] or graded
    begun = [each.run for each in counting]
    results = Results(
        bundle=bundle,
        mlecore=version("mlecore"),
        groups=tuple(sorted({run.group for run in records})),
        group_uid=opened.info.uid,
        agent=_most(f"{run.agent.name} {run.agent.version}, source {run.agent.source[:12] or '-'}" for run in begun),
        setups=tuple(sorted({_setup(run) for run in begun})),
        models=tuple(sorted({run.model for run in begun if run.model})),
        edition=_most(run.edition for run in begun),
        data=_most(run.data_kind or "unknown" for run in begun),
        digests=_digests(counting),
        marks={each.run.competition: of for each in counting if each.report and (of := marks_of(each.report))},
        conditions=_conditions(begun),
        recorded=_recorded(begun),
        detectors=_detectors(graded),
        progress=tuple((at.seconds / 3600, at.any_medal, at.beats_sample) for at in progress(graded)),
        runs=tuple(sorted(map(_run, graded), key=lambda run: (run.competition, run.seed))),
    )
    return _possible(results)


def _run(item: Graded) -> RunResult:
    report, run = item.report, item.run
    usage = run.usage
    tokens = [count for count in (usage.input_tokens, usage.output_tokens) if count is not None] if usage else []
    medal = (report.medal or "") if report and item.counts else ""
    status = report.status if report and item.counts else ""
    return RunResult(
        competition=run.competition,
        seed=run.seed,
        state=run.state,
        submission="valid" if status == "graded" else status,
        submission_sha256=file_digest(run.submission) if status == "graded" and run.submission else "",
        score=(report.score_text or "") if report and item.counts else "",
        medal=medal,
        reference=report.reference_words if report and item.counts else "",
        ranked=item.ranked,
        above_median=item.outcome.above_median,
        beats_sample=item.outcome.beats_sample,
        percentile=item.outcome.percentile,
        hours=None if run.seconds is None else run.seconds / 3600,
        limit_hours=run.limits.time / 3600,
        usd=usage.cost_usd if usage else None,
        tokens=sum(tokens) if tokens else None,
        findings=tuple(
            one_line(f"{found.verdict}: {found.rule}: {found.summary}")[:_LONGEST]
            for found in (*item.suspicions, *item.remarks)[:_FINDINGS]
        ),
    )


def _setup(run: RunRecord) -> str:
    options = [f"{name}={value}" for name, value in sorted(run.agent.options.items())]
    return " ".join([run.label or run.agent.name, *options, *([run.model] if run.model else [])])


def _most(values: Any) -> str:
    """The most frequent one; the others show as a condition that differs."""
    return str(Counter(values).most_common(1)[0][0])


def _digests(graded: Sequence[Graded]) -> dict[str, tuple[str, ...]]:
    found: dict[str, set[str]] = {}
    for item in graded:
        run = item.run
        graders = {use.source for use in (run.grader,) if use} | {item.report.plugin_source if item.report else ""}
        named = [run.data_digest, run.answers_digest, run.description_digest, *sorted(graders - {""})]
        found.setdefault(run.competition, set()).add(" ".join(digest or "unknown" for digest in named))
    return {name: tuple(sorted(digests)) for name, digests in sorted(found.items())}


def _conditions(runs: Sequence[RunRecord]) -> dict[str, tuple[str, ...]]:
    return {name: tuple(values) for name, values in all_conditions(runs).items() if not name.startswith("plugin ")}


def _recorded(runs: Sequence[RunRecord]) -> Recorded:
    return Recorded(
        replaced=sum(bool(replaced.status) for run in runs for replaced in run.forced),
        network=tuple(sorted({run.limits.network for run in runs})),
        network_enforced=all(run.sandbox is not None and run.sandbox.network.level == "enforced" for run in runs),
        hosts=tuple(sorted({host for run in runs for host in run.limits.allow})),
        mcp=tuple(sorted({server.url for run in runs for server in run.limits.mcp.values()})),
        server_tools=any(run.access is not None and run.access.server_tools for run in runs),
        varying=tuple(_varying(runs)),
        unknown_cost=sum(map(_has_unknown_cost, runs)),
    )


def _has_unknown_cost(run: RunRecord) -> bool:
    """An open network and a variable of the user's count as a model: the variable may be its key."""
    if run.calls is not None and (run.calls.unknown or not run.calls.calls):
        return bool(run.calls.unknown)
    could = run.model or run.access or run.usage or (run.limits.network == "open" and run.secrets)
    return bool(could) and (run.usage is None or run.usage.cost_usd is None)


def _varying(runs: Sequence[RunRecord]) -> list[str]:
    """What an agent was given for one competition and not for another."""
    given = {
        "options": {str(sorted(run.agent.options.items())) for run in runs},
        "label": {run.label for run in runs},
        "files of the agent": {run.launch_digest for run in runs if run.launch_digest},
    }
    return [name for name, values in given.items() if len(values) > 1]


def _detectors(graded: Sequence[Graded]) -> dict[str, dict[str, int]]:
    found: dict[str, Counter[str]] = {name: Counter() for item in graded for name in item.planned_detectors}
    for item in graded:
        for judgement in item.judgements:
            found.setdefault(judgement.detector, Counter())[judgement.outcome] += 1
    return {name: dict(sorted(counts.items())) for name, counts in sorted(found.items())}
