"""Grades the snapshots that init took of a submission: score over time, and the last valid snapshot."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from attrs import asdict, frozen

from mlecore.data.layout import DataDirs
from mlecore.data.opening import open_prepared
from mlecore.errors import GradingError
from mlecore.grading.isolated import IsolatedGrader
from mlecore.model.record import RunRecord
from mlecore.model.report import Report
from mlecore.plugins.competitions import competition
from mlecore.runs.digests import with_digest
from mlecore.runs.folders import is_group
from mlecore.runs.ownership import require_own
from mlecore.runs.same_data import require_same_data
from mlecore.runs.snapshots import HISTORY, snapshots
from mlecore.runs.store import load_group, open_group
from mlecore.util import files


@frozen(kw_only=True)
class Point:
    """One snapshot. ``seconds`` since the start, as reported by the sandbox."""

    seconds: float
    file: str  # relative to the run's folder
    status: str  # graded, invalid
    score: float | None
    score_text: str | None
    reason: str
    medal: str | None


@frozen(kw_only=True)
class History:
    """Scores of one run's snapshots over time. They are not the run's result."""

    run: str
    competition: str
    seed: int
    points: tuple[Point, ...]

    @property
    def last_valid(self) -> Point | None:
        return next((point for point in reversed(self.points) if point.status == "graded"), None)

    def to_json(self) -> dict[str, Any]:
        last = self.last_valid
        return {**asdict(self), "last_valid": None if last is None else asdict(last)}


def grade_snapshots(group: Path, dirs: DataDirs) -> list[History]:
    """Grade the snapshots of all runs of a group (or of one run's folder) that have ended.

    Skips runs without a final result, so that no score can reach a running agent. Each history is written to
    snapshots.json in the run's folder, for reports. Raises GradingError, NotPrepared, and UsageError
    for a group of another owner.
    """
    require_own(open_group(group if is_group(group) or not is_group(group.parent) else group.parent))
    found = []
    with IsolatedGrader() as grader:
        for record in load_group(group):
            if record.state != "graded":
                continue
            target = competition(record.competition, record.edition)
            data = open_prepared(target, dirs, synthetic=record.synthetic)
            require_same_data(record, data)
            points = tuple(_points(record, partial(grader.grade, target, data=data, plugin=record.grader)))
            history = History(run=record.name, competition=record.competition, seed=record.seed, points=points)
            files.replace(record.folder / HISTORY, with_digest(history.to_json()))
            found.append(history)
    return found


def _points(record: RunRecord, grade: Callable[[Path], Report]) -> Iterator[Point]:
    for seconds, path in snapshots(record):
        try:
            report = grade(path)
        except GradingError as error:
            raise GradingError(f"{record.name}: snapshot {path.name}: {error.message}", fix=error.fix) from None
        yield Point(
            seconds=seconds,
            file=path.relative_to(record.folder).as_posix(),
            status=report.status,
            score=report.score,
            score_text=report.score_text,
            reason=report.reason,
            medal=report.medal,
        )
