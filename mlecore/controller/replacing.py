"""Makes room for another result of a run that has one: `mlecore runs retry --force`. What it had is kept, whole.

The record is written between the two steps, so that a controller may die at any moment: the first one changes nothing,
and the second one is finished when the next attempt begins.
"""

from __future__ import annotations

from pathlib import Path

from attrs import evolve

from mlecore.model.backends import Hardware
from mlecore.model.record import Replaced, RunRecord
from mlecore.runs.folders import FINDINGS, RECORD
from mlecore.runs.journal import now
from mlecore.runs.snapshots import HISTORY
from mlecore.runs.store import grade_of
from mlecore.util import files
from mlecore.util.regular import read_regular
from mlecore.util.schema import LIMIT

_PARTS = (
    "submission",
    "logs",
    "code",
    "code_snapshots",
    "snapshots",
    FINDINGS,
    HISTORY,
    "grade.json",
    "grade_error.json",
)


def without_result(record: RunRecord) -> RunRecord:
    """The record as if the run had no result yet; a copy of the one before is kept, and ``forced`` names it."""
    assert record.attempt
    folder = _folder(record, record.attempt.number)
    files.make_folder(folder, below=record.folder)
    files.replace(folder / RECORD, read_regular(record.folder / RECORD, LIMIT, below=record.folder.parent))
    status, score = result_of(record.folder)
    replaced = Replaced(
        attempt=record.attempt.number,
        at=now(),
        ended=record.ended,
        status=status,
        score=score,
        kept=folder.relative_to(record.folder).as_posix(),
    )
    return evolve(
        record,
        forced=(*record.forced, replaced),
        seconds=None,
        hardware=Hardware(),
        calls=None,
        usage=None,
        reported_usage=None,
        usage_difference="",
        relay_refused={},
        checks=0,
        gradings=0,
        collected=None,
    )


def set_aside(record: RunRecord) -> None:
    """Move what belongs to the result that was replaced last out of the way. Repeatable.

    What appears after that is from a detector that was still judging it.
    """
    if not record.forced:
        return
    folder = _folder(record, record.forced[-1].attempt)
    for name in _PARTS:
        if (folder / name).exists():
            files.remove(record.folder / name)
        elif (record.folder / name).exists():
            files.rename(record.folder / name, folder / name)


def result_of(folder: Path) -> tuple[str, str]:
    """The status and the score in a run's grade.json, in words; empty where it has none."""
    grade = grade_of(folder) or {}
    status, score = grade.get("status"), grade.get("score_text") or grade.get("score")
    return str(status or ""), "" if score is None else str(score)


def _folder(record: RunRecord, attempt: int) -> Path:
    return record.folder / "attempts" / str(attempt) / "replaced"
