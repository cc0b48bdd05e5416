"""Writes runs of other harnesses as a group, marked as imported.

What a harness does not record (hardware, network, data) stays unknown, so reports mix such runs with others only on
request.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import evolve, field, frozen

from mlecore.errors import DataError, UsageError
from mlecore.model.imported import Imported
from mlecore.model.provenance import PluginUse
from mlecore.model.record import Collected, RunRecord
from mlecore.model.report import Report
from mlecore.runs.journal import Journal
from mlecore.runs.planning import make_plan
from mlecore.runs.store import Group, create_group, planned_records, write_record
from mlecore.util import files
from mlecore.util.regular import read_regular, regular_files

_Place = tuple[str, str, int]  # label, competition, seed

_SUBMISSION_LIMIT = 4 * 2**30  # bytes; grading has its own, narrower limit
_KEPT_LIMIT = 2**30  # bytes of one run's logs and code


@frozen(kw_only=True)
class ForeignRun:
    """One run of another harness. Its folder is hostile: only regular files are copied, within limits."""

    name: str  # at the harness, for messages
    label: str  # of the agent
    competition: str
    seed: int | None = None  # None: the next number of its label and competition, from 0
    folder: Path | None  # with submission/submission.csv, logs/ and code/, as far as they exist; None: only a report
    report: Report | None
    facts: Mapping[str, Any] = field(factory=dict)  # fields of RunRecord that the harness knows


def label_of(text: str) -> str:
    """Turn a text into a name for folders and commands."""
    return re.sub(r"[^A-Za-z0-9._-]+|--+", "-", text).strip("-.")[:80] or "imported"


def create_imported(
    found: Sequence[ForeignRun],
    runs: Path,
    name: str,
    *,
    harness: str,
    created_at: str | None = None,
    apart: str = "Import them as separate groups, each from a file or folder with runs of one kind only.",
) -> Imported:
    """A new group of these runs, on the edition and kind of data that their reports and facts name.

    Raises UsageError if those differ (``apart`` says how to import such runs), if the group's name is taken, or if two
    runs would be the same one; DataError if the group cannot be written.
    """
    placed = _placed(found)
    plan = make_plan(
        {
            "agents": [{"name": label, "label": label} for label in dict.fromkeys(run.label for run in found)],
            "competitions": sorted({run.competition for run in found}),
            "seeds": sorted({seed for *_, seed in placed}),
            "data": _data(found, apart),
        }
    )
    try:
        group = create_group(runs, name, plan)
        try:
            left_out = _fill(group, placed, harness, created_at)
        except BaseException:
            files.remove(group.folder)  # half a group is none
            raise
    except OSError as error:
        raise DataError(f"no group can be created in {runs}: {error}", fix="Name another folder: --runs DIR") from error
    return Imported(
        group=group.name,
        runs=len(found),
        without_grade=tuple(run.name for run in found if run.report is None),
        left_out=tuple(left_out),
    )


def _placed(found: Sequence[ForeignRun]) -> dict[_Place, ForeignRun]:
    """By label, competition and seed. Raises UsageError."""
    placed: dict[_Place, ForeignRun] = {}
    next_seed: Counter[tuple[str, str]] = Counter()
    for run in found:
        setup = (run.label, run.competition)
        place = (*setup, next_seed[setup] if run.seed is None else run.seed)
        next_seed[setup] += 1
        if place in placed:
            raise UsageError(
                f"{placed[place].name} and {run.name} are both {run.label} on {run.competition} with seed {place[2]}",
                fix="Import them as separate groups: --group NAME",
            )
        placed[place] = run
        if label_of(run.competition) != run.competition:  # it becomes part of a folder's name
            raise UsageError(f"{run.name}: {run.competition[:100]!r} is no name of a competition")
    return placed


def _fill(group: Group, placed: Mapping[_Place, ForeignRun], harness: str, created_at: str | None) -> list[str]:
    """Write the runs. Returns what was left out of them."""
    planned = {(record.label, record.competition, record.seed): record for record in planned_records(group)}
    left_out: list[str] = []
    for place, run in placed.items():
        record = evolve(
            planned[place],
            agent=PluginUse(name=run.label),
            backend=PluginUse(name=harness),
            imported_from=harness,
            created_at=created_at,
        )
        _write(record, run, left_out)
    Journal(group.folder).note("imported", runs=len(placed))
    return left_out


def _data(found: Sequence[ForeignRun], apart: str) -> dict[str, Any]:
    """The edition and kind of data of all runs: a group has one edition, and real or synthetic data."""
    said = [(run.facts.get("edition"), run.facts.get("data_kind")) for run in found]
    said += [(run.report.edition, run.report.data_kind) for run in found if run.report is not None]
    editions = {str(edition) for edition, _ in said if edition}
    # A competition whose data need no account has them in an export of synthetic data, too.
    synthetic = {kind == "synthetic" for _, kind in said if kind not in (None, "no_leaderboard")}
    if wrong := [name for name in editions if not name.isidentifier() or len(name) > 20]:
        raise UsageError(f"{wrong[0][:40]!r} is no name of an edition")
    if len(editions) > 1:
        raise UsageError(f"the runs are of the editions {', '.join(sorted(editions))}; a group has one", fix=apart)
    if len(synthetic) > 1:
        raise UsageError("the runs are of real and of synthetic data; a group has one of them", fix=apart)
    return {"edition": next(iter(editions), "v1"), "synthetic": next(iter(synthetic), False)}


def _write(record: RunRecord, run: ForeignRun, left_out: list[str]) -> None:
    files.make_folder(record.folder)
    missed: list[str] = []
    kept = copied = 0
    if run.folder is not None:
        submission = run.folder / "submission" / "submission.csv"
        kept = _copy(run.folder, record.folder, [submission], _SUBMISSION_LIMIT, missed)
        others = [path for part in ("logs", "code") for path in regular_files(run.folder / part)]
        copied = _copy(run.folder, record.folder, others, _KEPT_LIMIT, missed)
    if run.report is not None:
        report = evolve(run.report, run=record.uid, submission_path="submission/submission.csv" if kept else "")
        content = json.dumps(report.to_json(), indent=1, ensure_ascii=False) + "\n"
        files.publish(record.folder / "grade.json", content.encode())
    known: dict[str, Any] = {
        "state": "graded" if run.report is not None else "collected",
        "reason": "" if run.report is not None else "imported without a grading report",
        "gradings": int(run.report is not None),
        "collected": Collected(
            files=kept + copied, candidate="submission/submission.csv" if kept else None, complete=not missed
        ),
    }
    kind = {"data_kind": run.report.data_kind} if run.report is not None else {}
    write_record(evolve(record, **(known | dict(run.facts) | kind)))
    left_out += missed


def _copy(source: Path, target: Path, paths: Sequence[Path], limit: int, left_out: list[str]) -> int:
    """Copy regular files up to ``limit`` bytes in all. Returns how many were copied."""
    left, copied = limit, 0
    for path in paths:
        if not path.is_file() or path.is_symlink() or path.parent.is_symlink():
            if path.is_symlink() or path.exists():
                left_out.append(f"{path}: it is a link, or no regular file")
            continue
        try:
            content = read_regular(path, left)
        except (DataError, OSError) as error:
            left_out.append(f"{path}: {error}")
            continue
        to = target / path.relative_to(source)
        files.make_folder(to.parent)
        files.replace(to, content)
        left -= len(content)
        copied += 1
    return copied
