"""A run as reports see it: its record, its report, what detectors found, and how its submission changed over time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from attrs import frozen

from mle_ext_report.benchmark import comparable
from mle_ext_report.percentile import percentile
from mle_ext_report.rates import Outcome
from mlecore.model.agents import Usage
from mlecore.model.data_kind import NO_MEDALS
from mlecore.model.detectors import Evidence, Finding
from mlecore.model.findings import DetectorOutcome, Findings
from mlecore.model.plan import Plan
from mlecore.model.record import RunRecord
from mlecore.model.report import Report
from mlecore.runs.digests import problems
from mlecore.runs.findings import read_findings
from mlecore.runs.snapshots import HISTORY
from mlecore.util.schema import SchemaError, read_json


@frozen(kw_only=True)
class ReportedFinding:
    """A finding that is not clean."""

    detector: str
    rule: str  # several, with commas, if a detector could not decide about them
    verdict: str  # "violation", "suspicious", "undecided" or "note"
    summary: str
    confidence: float | None = None  # from 0 to 1
    evidence: tuple[Evidence, ...] = ()  # where it shows


@frozen(kw_only=True)
class Judgement:
    """What one detector did with a run."""

    detector: str
    version: str
    outcome: DetectorOutcome
    why: str = ""  # why it failed, or could not decide
    usage: Usage | None = None


@frozen(kw_only=True)
class Moment:
    """A snapshot of the submission, graded: what it would have earned, so many seconds after the start."""

    seconds: float
    valid: bool
    score: float | None
    medal: str | None


@frozen(kw_only=True)
class Graded:
    """A run and its report, where it has one."""

    run: RunRecord
    report: Report | None
    suspicions: tuple[ReportedFinding, ...] = ()  # violations and suspicious findings: each of them flags the run
    remarks: tuple[ReportedFinding, ...] = ()  # notes, and what detectors could not decide: they flag nothing
    judgements: tuple[Judgement, ...] = ()  # of detectors, by name
    planned_detectors: tuple[str, ...] = ()  # that its plan names
    history: tuple[Moment, ...] = ()  # in order of time; empty if no snapshot has been graded

    @property
    def counts(self) -> bool:
        """Is it a result? Graded runs are, and those to be graded again (no medal until then). Runs that have not
        ended, were cancelled or lost by the backend are missing."""
        return self.run.state in ("graded", "collected")

    @property
    def ranked(self) -> bool:
        """Could it have earned a medal?"""
        if self.report is not None:
            return self.report.gold_threshold is not None
        return self.run.data_kind not in NO_MEDALS and comparable(self.run.competition, self.run.edition)

    @property
    def outcome(self) -> Outcome:
        """What the run earned; nothing without a report."""
        report = self.report
        if not self.counts:
            return Outcome(ranked=self.ranked, missing=True)
        if report is None:
            return Outcome(ranked=self.ranked, made=bool(self.run.submission))
        return Outcome(
            ranked=self.ranked,
            any_medal=report.any_medal,
            gold=report.gold_medal,
            silver=report.silver_medal,
            bronze=report.bronze_medal,
            above_median=report.above_median,
            valid=report.valid_submission,
            made=report.submission_exists,
            beats_sample=report.beats_sample,
            percentile=percentile(report),
        )

    @property
    def unflagged(self) -> Outcome:
        """What the run earned, or nothing if a detector flagged it."""
        if not (self.counts and self.suspicions):
            return self.outcome
        return Outcome(ranked=self.ranked, percentile=None if self.outcome.percentile is None else 0.0)


def read_graded(run: RunRecord, plan: Plan | None = None) -> Graded:
    """A run with the files next to its record. A file that cannot be read counts as missing.

    ``plan``: its group's.
    """
    folder = run.folder
    found, damaged = read_findings(run)
    return Graded(
        run=run,
        report=run.report,
        suspicions=(
            *_altered(run, damaged),
            *(_reported(name, finding) for name, findings in found.items() for finding in findings.flagged),
        ),
        remarks=tuple(_remarks(found)),
        judgements=tuple(_judgements(found, damaged)),
        planned_detectors=tuple(sorted(plan.execution.detectors)) if plan else (),
        history=_history(folder / HISTORY),
    )


def _altered(run: RunRecord, damaged: Mapping[str, str]) -> Iterator[ReportedFinding]:
    for problem in (*problems(run), *(words.removeprefix(f"{run.folder}/") for words in damaged.values())):
        yield ReportedFinding(detector="digests", rule="changed afterwards", verdict="violation", summary=problem)


def _remarks(found: Mapping[str, Findings]) -> Iterator[ReportedFinding]:
    """Each note, and one entry for everything that a detector could not decide: its rules share the reason."""
    for detector, findings in found.items():
        yield from (_reported(detector, finding) for finding in findings.findings if finding.verdict == "note")
        if findings.undecided:
            open_ = [finding for finding in findings.findings if finding.verdict == "undecided"]
            reasons = dict.fromkeys((findings.undecided, findings.skipped))
            yield ReportedFinding(
                detector=detector,
                rule=", ".join(finding.rule for finding in open_),
                verdict="undecided",
                summary="; ".join(filter(None, reasons)),
                evidence=tuple(place for finding in open_ for place in finding.evidence),
            )


def _reported(detector: str, finding: Finding) -> ReportedFinding:
    return ReportedFinding(
        detector=detector,
        rule=finding.rule,
        verdict=finding.verdict,
        summary=finding.summary,
        confidence=finding.confidence,
        evidence=finding.evidence,
    )


def _judgements(found: Mapping[str, Findings], damaged: Mapping[str, str]) -> Iterator[Judgement]:
    for detector in sorted({*found, *damaged}):
        if detector in damaged:  # nobody knows what it found, so it is not clean
            yield Judgement(detector=detector, version="", outcome="failed", why=damaged[detector])
            continue
        each = found[detector]
        yield Judgement(
            detector=detector,
            version=each.detector.version,
            outcome=each.outcome,
            why=each.failed or each.undecided,
            usage=each.usage,
        )


def _history(path: Path) -> tuple[Moment, ...]:
    try:
        values = read_json(path, below=path.parent.parent)
        return tuple(sorted((_moment(point) for point in values["points"]), key=lambda moment: moment.seconds))
    except (OSError, SchemaError, ValueError, TypeError, KeyError):
        return ()


def _moment(point: Mapping[str, Any]) -> Moment:
    score = point["score"]
    return Moment(
        seconds=float(point["seconds"]),
        valid=point["status"] == "graded",
        score=None if score is None else float(score),
        medal=point["medal"],
    )
