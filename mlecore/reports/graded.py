"""A run as reports see it: its record, its report, what detectors found, and how its submission changed over time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, get_args

from attrs import frozen

from mlecore.detectors import Verdict
from mlecore.grading.report import Report, read_report
from mlecore.reports.rates import Outcome
from mlecore.runs.digests import problems
from mlecore.runs.record import RunRecord
from mlecore.runs.snapshots import HISTORY
from mlecore.schema import SchemaError, read_json


@frozen(kw_only=True)
class Suspicion:
    """A finding that throws doubt on a run."""

    detector: str
    rule: str
    verdict: str  # "suspicious" or "violation"
    summary: str


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
    suspicions: tuple[Suspicion, ...] = ()
    history: tuple[Moment, ...] = ()  # in order of time; empty if no snapshot has been graded

    @property
    def counts(self) -> bool:
        """Does it count in the rates? Graded runs do, and those that we must grade again (no medal until then), but not
        those that the backend lost."""
        return self.run.state in ("graded", "collected")

    @property
    def ranked(self) -> bool:
        """Could it have earned a medal?"""
        return self.report is None or self.report.gold_threshold is not None

    @property
    def outcome(self) -> Outcome:
        """What it earned; nothing without a report."""
        report = self.report
        if report is None:
            return Outcome(made=bool(self.run.submission))
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
        )


def read_graded(run: RunRecord) -> Graded:
    """A run with the files next to its record. A file that cannot be read counts as missing."""
    folder = run.folder
    return Graded(
        run=run,
        report=_report(folder / "grade.json") if run.state in ("graded", "collected") else None,
        suspicions=(*_altered(run), *_suspicions(folder / "findings")),
        history=_history(folder / HISTORY),
    )


def _report(path: Path) -> Report | None:
    try:
        return read_report(path, below=path.parent.parent)
    except (OSError, SchemaError):
        return None


def _altered(run: RunRecord) -> Iterator[Suspicion]:
    for problem in problems(run):
        yield Suspicion(detector="digests", rule="changed afterwards", verdict="violation", summary=problem)


def _suspicions(folder: Path) -> list[Suspicion]:
    """From findings/<detector>.json, a Detection as JSON each: those that are neither clean nor undecided."""
    found = []
    try:
        paths = sorted(path for path in folder.iterdir() if path.suffix == ".json" and not folder.is_symlink())
    except OSError:
        return []
    for path in paths:
        try:
            values = read_json(path, below=folder.parent.parent)
            for finding in values["findings"]:
                if finding["verdict"] not in get_args(Verdict):
                    raise ValueError(f"{finding['verdict']!r} is not a verdict")
                if finding["verdict"] in ("suspicious", "violation"):
                    found.append(
                        Suspicion(
                            detector=path.stem,
                            rule=str(finding["rule"]),
                            verdict=finding["verdict"],
                            summary=str(finding["summary"]),
                        )
                    )
        except (OSError, SchemaError, ValueError, TypeError, KeyError) as error:
            found.append(Suspicion(detector=path.stem, rule="unreadable", verdict="suspicious", summary=str(error)))
    return found


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
