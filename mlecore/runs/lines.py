"""What lists show of each run."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from mlecore.runs.record import RunRecord


class RunLine(NamedTuple):
    """What a list shows of a run."""

    name: str  # of its folder
    agent: str
    label: str
    competition: str
    seed: int
    state: str
    altered: bool  # run.json or grade.json is not as mlecore wrote it
    ended: str | None
    outcome: dict[str, str] | None  # kind and detail, as the agent reported it
    attempts: int
    started: float | None  # the first attempt: seconds since 1970
    finished: float | None  # the last attempt: the same; None while one is active
    seconds: float | None  # of the attempt that counts, so far
    status: str | None  # of its grade.json
    score: str | None
    data_kind: str | None
    reason: str


def list_runs(folder: Path, problems: list[str]) -> list[RunLine]:
    """The runs of a group's folder, or the run in a run's folder. Raises as ``store.load_group``."""
    from mlecore.runs.store import load_group

    return [_line(run) for run in load_group(folder, problems)]


def _line(run: RunRecord) -> RunLine:
    from attrs import asdict

    from mlecore.runs.record import moment
    from mlecore.runs.store import read_grade

    grade, digest = read_grade(run.folder) if run.state == "graded" else (None, "")
    published = run.digests.grade if run.digests else None
    times = [(begin, moment(attempt.ended_at)) for attempt in run.attempts if (begin := moment(attempt.started_at))]
    ends = [end.timestamp() for _, end in times if end]
    return RunLine(
        name=run.folder.name,
        agent=run.agent.name,
        label=run.label,
        competition=run.competition,
        seed=run.seed,
        state=run.state,
        altered=run.altered or (published is not None and published != digest),
        ended=run.ended,
        outcome=asdict(run.outcome) if run.outcome else None,
        attempts=len(run.attempts),
        started=min((begin.timestamp() for begin, _ in times), default=None),
        finished=max(ends) if ends and len(ends) == len(times) else None,
        seconds=run.elapsed(datetime.now(UTC)),
        status=_text((grade or {}).get("status")),
        score=_text((grade or {}).get("score_text")),
        data_kind=run.data_kind,
        reason=run.reason,
    )


def _text(value: object) -> str | None:
    """A value of a grade.json that somebody may have edited."""
    return value if isinstance(value, str) else None
