"""Grade the submissions of a group again, and compare with what its grade files say."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import frozen

from mlecore.data.layout import DataDirs
from mlecore.errors import MlecoreError
from mlecore.grading.report import Report, read_report
from mlecore.runs.record import RunRecord
from mlecore.runs.same import require_same_data
from mlecore.runs.store import load_group
from mlecore.schema import SchemaError

if TYPE_CHECKING:
    from mlecore.grading.isolated import IsolatedGrader

_COMPARED = ("status", "score_text", "any_medal", "gold_medal", "silver_medal", "bronze_medal", "above_median")


@frozen(kw_only=True)
class Regraded:
    """One run. ``different`` names what has changed; ``undecided`` says why it could not be graded again."""

    run: str
    different: tuple[str, ...] = ()
    undecided: str = ""


def regrade(group: Path, dirs: DataDirs) -> Iterator[Regraded]:
    """Every graded run of a group's folder; its own files stay as they are."""
    from mlecore.grading.isolated import IsolatedGrader

    with IsolatedGrader() as grader:
        for record in load_group(group):
            if record.state == "graded":
                try:
                    then = read_report(record.folder / "grade.json", below=record.folder.parent)
                    yield Regraded(run=record.name, different=_differences(then, _grade(record, dirs, grader)))
                except (MlecoreError, SchemaError, OSError) as error:
                    yield Regraded(run=record.name, undecided=str(error).splitlines()[0])


def _grade(record: RunRecord, dirs: DataDirs, grader: IsolatedGrader) -> Report:
    from mlecore.competitions import competition
    from mlecore.data import open_prepared

    data = open_prepared(competition(record.competition, record.edition), dirs, synthetic=record.synthetic)
    require_same_data(record, data)
    submission = record.folder / "submission" / "submission.csv"
    return grader.grade(submission if submission.is_file() else None, data, record.grader)


def _differences(then: Report, now: Report) -> tuple[str, ...]:
    return tuple(
        f"{name}: {getattr(then, name)} then, {getattr(now, name)} now"
        for name in _COMPARED
        if getattr(then, name) != getattr(now, name)
    )
