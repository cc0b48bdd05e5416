"""Are a run's predictions those of the sample submission, of a public file or of another run?"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path

from mle_detector_leaks.predictions import Predictions, as_numbers, read_predictions, read_text
from mle_detector_leaks.scores import report_of
from mlecore.competitions import Competition
from mlecore.detectors import Evidence, Finding
from mlecore.errors import DataError
from mlecore.runs.record import RunRecord
from mlecore.submissions.format import Format
from mlecore.submissions.sample import open_sample

SUBMISSION = "submission/submission.csv"
_FILES = 200  # public CSV files that are compared
_LARGEST = 256 * 10**6  # bytes of one
_SHOWN = 10  # runs that a finding names


def copies(
    run: RunRecord, group: Sequence[RunRecord], competition: Competition, public: Path | None
) -> Iterator[Finding]:
    """A finding for each comparison that can be made; none without a valid submission."""
    own = _predictions(run, competition.format)
    if own is None:
        return
    yield same_submission(run, own, group, competition.format)
    if public is not None:
        yield from sample_copy(own, competition, public)
        if own.varied:
            yield public_copy(run, competition, public)


def _predictions(run: RunRecord, format: Format) -> Predictions | None:
    """Of a submission that was graded: it went through the guard, so it can be parsed."""
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
    """Nothing where the sample cannot be read."""
    from polars.exceptions import PolarsError

    try:
        with open_sample(competition.facts, public) as path:
            sample = read_predictions(path, competition.format)
    except (DataError, OSError, PolarsError):
        return
    same = sample.digest == own.digest
    yield Finding(
        rule="sample-copy",
        verdict="suspicious" if same else "clean",
        summary="it handed in the sample submission" if same else "its predictions are not the sample submission's",
        confidence=1.0 if same else None,
        evidence=(Evidence(file=SUBMISSION),) if same else (),
    )


def public_copy(run: RunRecord, competition: Competition, public: Path) -> Finding:
    """Is a column of predictions, row for row, a column of a public file?"""
    rule, id = "public-copy", competition.format.id
    sample = competition.facts.sample.partition("!")[0].removeprefix("public/")
    skipped: list[str] = []
    compared = 0
    for path in sorted(public.rglob("*.csv")):
        name = path.relative_to(public).as_posix()
        if name == sample or id not in _header(path):
            continue
        if compared == _FILES or path.stat().st_size > _LARGEST:
            skipped.append(name)
            continue
        compared += 1
        for predicted, column in _equal_columns(run, path, competition.format):
            return Finding(
                rule=rule,
                verdict="suspicious",
                summary=f"its predictions, {predicted!r}, are the column {column!r} of public/{name}",
                confidence=0.9,
                evidence=(Evidence(file=SUBMISSION), Evidence(file=f"public/{name}", of=competition.id)),
            )
    return Finding(
        rule=rule,
        verdict="clean",
        summary=f"its predictions are no column of a public file ({compared} compared)",
        details={"not_compared": skipped[:50]},
    )


def _header(path: Path) -> list[str]:
    try:
        with path.open(newline="", encoding="utf-8-sig", errors="replace") as file:
            return next(csv.reader([file.readline(1 << 20)]), [])
    except (OSError, csv.Error):
        return []


def _equal_columns(run: RunRecord, path: Path, format: Format) -> Iterator[tuple[str, str]]:
    """Names of a column that is graded and of the public one that it equals. Others may be copied, as samples do."""
    from polars.exceptions import PolarsError

    id = format.id
    try:
        own = read_text(run.folder / SUBMISSION)
        theirs = read_text(path).unique(id, keep="first")
    except (OSError, PolarsError):
        return
    graded = format.expand(own.columns)
    predicted = [name for name in own.columns if name in graded and name != id and own[name].n_unique() > 1]
    others = [name for name in theirs.columns if name != id]
    both = own.rename({name: f"own {name}" for name in predicted}).join(theirs, on=id, how="inner")
    if both.height != own.height:
        return
    for name in predicted:
        mine = both[f"own {name}"]
        numbers = as_numbers(mine)
        for other in others:
            if mine.equals(both[other].alias(mine.name)) or (
                numbers is not None
                and (their := as_numbers(both[other])) is not None
                and bool((numbers == their).all())
            ):
                yield name, other
