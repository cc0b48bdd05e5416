"""One run as a line of the report."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import frozen

from mle_ext_report.benchmark import edition_facts, listed
from mle_ext_report.graded import Graded, ReportedFinding
from mle_ext_report.percentile import percentile
from mle_ext_report.position import position
from mlecore.model.data_kind import DataKind
from mlecore.model.facts import Comparability
from mlecore.model.record import Obfuscation


@frozen(kw_only=True)
class RunLine:
    """One run. None means that there is no such value: without published data, medal and above_median."""

    run: str
    group: str
    competition: str
    split: str | None
    metric: str | None
    edition: str
    comparability: Comparability | None  # of the edition's medals with v1's; "none": there are no medals
    seed: int
    column: str  # its seed among all of the setup's: "0", or "0 of <group>" where two groups ran the same
    state: str
    ended: str | None
    outcome: str  # how it ended, as reported by its agent; empty if that says nothing
    reason: str
    obfuscation: Obfuscation  # what was hidden from the agent
    data_kind: DataKind | None  # that it worked on, or that its setup works on if it has not begun
    submission: str  # "valid", "invalid", "none", "not graded", or the state of a run that does not count
    why: str  # why it is invalid, or not graded
    score: float | None
    score_text: str | None
    lower_is_better: bool | None
    medal: str | None  # "gold", "silver", "bronze" or "none"
    reference: str  # place among scores of agents, such as "reference gold", which is no medal; "" where there are none
    above_median: bool | None
    gold_threshold: float | None
    silver_threshold: float | None
    bronze_threshold: float | None
    median_threshold: float | None
    sample_score: float | None
    beats_sample: bool | None
    position: float | None  # from 0 (the sample submission) to 1 (gold)
    rank: int | None
    teams: int | None
    percentile: float | None  # of the leaderboard's teams that are not better; 0 without a valid submission
    best_human: float | None  # the best score on the leaderboard, if that was fetched
    hours: float | None
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None
    suspicions: tuple[ReportedFinding, ...]  # that flag the run
    remarks: tuple[ReportedFinding, ...]  # notes, and what detectors could not decide
    judged: Mapping[str, str]  # detector -> "violation", "suspicious", "failed", "undecided", "note" or "clean"

    @property
    def exact(self) -> float | None:
        """The unrounded score, to compare with the unrounded scores of the sample and of thresholds."""
        return self.score if self.score is None or self.score_text is None else float(self.score_text)

    @property
    def as_sample(self) -> bool:
        """Does it score the same as the sample submission?"""
        return self.score is not None and self.exact == self.sample_score

    @property
    def reached_goal(self) -> bool:
        """Did it earn a medal, or beat the sample submission where there are none?"""
        return self.medal != "none" if self.medal else bool(self.beats_sample)


_OF_REPORT = (
    "score score_text sample_score beats_sample rank teams best_human "
    "gold_threshold silver_threshold bronze_threshold median_threshold"
).split()


def run_line(item: Graded, column: str) -> RunLine:
    """``column``: the run's seed, unique within its setup."""
    run, report = item.run, item.report
    facts = edition_facts(run.competition, run.edition) if run.edition != "v1" else None
    comparability = facts.comparability if facts else "same" if run.edition == "v1" else None
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
    return RunLine(
        run=run.name,
        group=run.group,
        competition=run.competition,
        split=listed(run.competition).split,
        metric=facts.metric if facts else listed(run.competition).metric,
        edition=run.edition,
        comparability=report.comparability if report else comparability,
        seed=run.seed,
        column=column,
        state=run.state,
        ended=run.ended,
        outcome=str(run.outcome or ""),
        reason=run.reason,
        obfuscation=run.obfuscation,
        data_kind=run.data_kind,
        submission=submission,
        why=why,
        lower_is_better=report.is_lower_better if report else None,
        medal=(report.medal or "none") if report and medals else None,
        reference=report.reference_words if report and item.counts else "",
        above_median=report.above_median if report and medals else None,
        position=position(report) if item.counts else None,
        percentile=percentile(report) if item.counts else None,
        hours=None if run.seconds is None else run.seconds / 3600,
        suspicions=item.suspicions,
        remarks=item.remarks,
        judged={judgement.detector: judgement.outcome for judgement in item.judgements},
        **{name: getattr(report, name, None) for name in _OF_REPORT},
        **{name: getattr(run.usage, name, None) for name in ("input_tokens", "output_tokens", "cost_usd")},
    )
