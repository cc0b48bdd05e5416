"""What lists show of each run. Settled runs are read once, and again only after their files have changed.

A file in the user's cache folder has the lines of a group's settled runs, with the stamps of what they were made from:
run.json and grade.json of each, and the group's own files. A run that is altered, damaged or in the wrong place is
never in it. Nothing but lists relies on it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, get_args, get_origin, get_type_hints

from mlecore.cache import Stamp, cache_file, read_entries, shows_changes, stamp, write_entries
from mlecore.runs.folders import GROUP, PLAN, RECORD, inner_folders

if TYPE_CHECKING:
    from mlecore.runs.record import RunSummary

_SOURCES = ("runs", ".")
_GROUP = (GROUP, PLAN, "cancelled.json")
_RUN = (RECORD, "grade.json")


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


_TYPES = [
    tuple(get_origin(each) or each for each in get_args(hint) or (hint,)) for hint in get_type_hints(RunLine).values()
]


def list_runs(folder: Path, problems: list[str]) -> list[RunLine]:
    """The runs of a group's folder, or the run in a run's folder. Raises as ``store.load_summaries``."""
    began = time.time()
    cache = cache_file("groups", os.path.abspath(folder))  # noqa: PTH100
    group = _stamps(folder, _GROUP)
    runs = _stamps_of_runs(folder) if group[0] else {}
    kept, known = read_entries(cache, *_SOURCES) if runs else {}, {}
    try:
        remembered: dict[str, Any] = kept["runs"] if kept and kept["group"][0] == group[0] else {}
        known = {name: _kept_line(line) for name, (files, line) in remembered.items() if runs.get(name) == files}
        if kept and kept["whole"] and kept["group"] == group and len(known) == len(remembered) == len(runs):
            return [*known.values()]
    except (AttributeError, LookupError, TypeError, ValueError):  # other entries than ours
        kept = {}
    earlier = len(problems)
    lines = [*_read(folder, known, problems)]
    if group[0] and shows_changes(group[0], began):
        settled = {line.name: [runs[line.name], [*line]] for line in lines if _is_final(line, runs, began)}
        whole = len(settled) == len(lines) and len(problems) == earlier and all(shows_changes(e, began) for e in group)
        entries = {"group": group, "whole": whole, "runs": settled}
        if entries != kept and (settled or kept):
            write_entries(cache, entries, *_SOURCES)
    return lines


def _stamps(folder: str | Path, names: Sequence[str]) -> list[Stamp]:
    return [stamp(f"{folder}/{name}", follow=False) for name in names]


def _stamps_of_runs(group: Path) -> dict[str, list[Stamp]]:
    """Of each run's files, as they are before anything is read."""
    found = {name: _stamps(f"{group}/{name}", _RUN) for name in inner_folders(group)}
    # a folder that surely has no run.json (``builds``) is not a run's; one that cannot be entered may be
    return {name: files for name, files in found.items() if files[0] or not os.access(group / name, os.X_OK)}


def _read(folder: Path, known: Mapping[str, RunLine], problems: list[str]) -> Iterator[RunLine]:
    from mlecore.runs.store import load_unknown

    for run in load_unknown(folder, known, problems):
        yield run if isinstance(run, RunLine) else _line(run)


def _is_final(line: RunLine, runs: Mapping[str, list[Stamp]], began: float) -> bool:
    """Does the line stay as it is until the run's files change?"""
    files = runs.get(line.name, [None])
    ended = line.started is None or line.finished is not None
    final = line.state in ("graded", "cancelled", "failed") and ended and not line.altered
    return final and files[0] is not None and all(shows_changes(each, began) for each in files)


def _kept_line(values: list[Any]) -> RunLine:
    """Raises TypeError for values of other types than ours."""
    line = RunLine._make(values)
    if not all(map(isinstance, line, _TYPES)):
        raise TypeError(values)
    return line


def _line(run: RunSummary) -> RunLine:
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
