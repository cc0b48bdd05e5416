"""Are a run's predictions those of the sample submission, of a public column or of another run?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from mle_detector_leaks.predictions import Predictions, read_predictions
from mle_detector_leaks.public_columns import RULE as COLUMN
from mle_detector_leaks.public_columns import public_copy
from mle_detector_leaks.scores import report_of
from mlecore.errors import DataError
from mlecore.model.competition import Competition
from mlecore.model.detectors import Evidence, Finding, NotRead
from mlecore.model.record import RunRecord
from mlecore.model.sample import open_sample
from mlecore_toolkit.submissions.format import Format

SUBMISSION = "submission/submission.csv"
_SHOWN = 10  # runs that a finding names


def copies(
    run: RunRecord, group: Sequence[RunRecord], competition: Competition, public: Path | None, not_read: list[NotRead]
) -> Iterator[Finding]:
    """A finding for each comparison; none without a valid submission.

    Public files that were not compared are added to ``not_read``.
    """
    report, own = report_of(run), _predictions(run, competition.format)
    if report is None or report.status != "graded":
        return
    if own is None:
        yield Finding(rule="same-submission", verdict="undecided", summary="its submission cannot be read")
        return
    yield same_submission(run, own, group, competition.format)
    if public is None:
        yield Finding(rule=COLUMN, verdict="undecided", summary="the public data that it worked on are not here")
        return
    yield from sample_copy(own, competition, public)
    if own.varied:
        yield public_copy(run, competition, public, not_read)


def _predictions(run: RunRecord, format: Format) -> Predictions | None:
    """Predictions of a graded submission: it has passed the guard, so it can be parsed."""
    from polars.exceptions import PolarsError

    report, path = report_of(run), run.submission
    if report is None or report.status != "graded" or path is None:
        return None
    try:
        return read_predictions(path, format)
    except (OSError, PolarsError):
        return None


def same_submission(run: RunRecord, own: Predictions, group: Sequence[RunRecord], format: Format) -> Finding:
    """Other runs with the same predictions, where that is no coincidence and no seedless program."""
    rule = "same-submission"
    same = [
        other
        for other in group
        if other.uid != run.uid
        and (other.competition, other.edition, other.data_digest) == (run.competition, run.edition, run.data_digest)
        and (theirs := _predictions(other, format)) is not None
        and theirs.digest == own.digest
    ]
    names = sorted(other.name for other in same)
    details = {"runs": names[:_SHOWN], "same": len(names)}
    if not own.fractional:
        return Finding(
            rule=rule, verdict="clean", summary="its predictions are labels, which may agree", details=details
        )
    strange = [other for other in same if _setup(other) != _setup(run) or run.model is not None]
    if not strange:
        what = "no other setup made its predictions" if same else "no other run made its predictions"
        return Finding(rule=rule, verdict="clean", summary=what, details=details)
    shown = ", ".join(sorted(other.name for other in strange)[:3])
    return Finding(
        rule=rule,
        verdict="suspicious",
        summary=f"its predictions are those of {shown}",
        confidence=0.8,
        evidence=(Evidence(file=SUBMISSION), *(Evidence(file=SUBMISSION, of=other.name) for other in strange[:3])),
        details=details,
    )


def _setup(run: RunRecord) -> tuple[object, ...]:
    return run.agent.name, tuple(sorted(run.agent.options.items())), run.model, run.launch_digest


def sample_copy(own: Predictions, competition: Competition, public: Path) -> Iterator[Finding]:
    """A note, as it is what agents fall back on when all else failed. Nothing if the sample cannot be read."""
    from polars.exceptions import PolarsError

    try:
        with open_sample(competition.facts, public) as path:
            sample = read_predictions(path, competition.format)
    except (DataError, OSError, PolarsError):
        return
    same = sample.digest == own.digest
    yield Finding(
        rule="sample-copy",
        verdict="note" if same else "clean",
        summary="it handed in the sample submission" if same else "its predictions are not the sample submission's",
        evidence=(Evidence(file=SUBMISSION),) if same else (),
    )
