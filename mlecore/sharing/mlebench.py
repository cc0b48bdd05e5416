"""MLE-bench's run groups as mlecore's, marked as imported.

Such a group is a folder with ``metadata.json`` (its ``runs`` has a key for each run, also the run's folder, named
``<competition>_<id>``), what each run left (``submission/submission.csv``, ``logs/``, ``code/``), and perhaps grading
reports. What it does not say (time limit, hardware, network, data) stays unknown, so reports mix such runs with
others only on request.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import evolve, frozen

from mlecore import files
from mlecore.errors import DataError, UsageError
from mlecore.grading.report import Report
from mlecore.registry.provenance import PluginUse
from mlecore.reports.grading_reports import BENCHMARK, read_reports
from mlecore.runs.journal import Journal
from mlecore.runs.planning import parse_plan
from mlecore.runs.record import Collected, RunRecord
from mlecore.runs.store import create_group, planned_records, write_record
from mlecore.schema import SchemaError, read_json
from mlecore.sharing.bundle import regular_files

_SUBMISSION_LIMIT = 4 * 2**30  # bytes; grading has its own, narrower limit
_KEPT_LIMIT = 2**30  # bytes of one run's logs and code


@frozen(kw_only=True)
class Imported:
    """The result of an import. ``without_grade`` names runs that are in no report."""

    group: str
    runs: int
    without_grade: tuple[str, ...]
    left_out: tuple[str, ...]  # "what: why"


@frozen(kw_only=True)
class _Run:
    competition: str
    seed: int
    folder: Path
    report: Report | None


def import_group(
    folder: Path, runs: Path, *, reports: Sequence[Path] = (), agent: str | None = None, name: str | None = None
) -> Imported:
    """Create a group in ``runs`` from one of MLE-bench's.

    ``reports`` are its grading reports; by default those that lie in the folder. Several runs of one competition are
    seeds 0, 1, ... in the order of their names. Raises UsageError.
    """
    metadata = _metadata(folder)
    reports = reports or sorted(folder.glob("*grading_report*.json"))
    found = _runs(folder, metadata, [report for path in reports for report in read_reports(path)])
    if not found:
        raise UsageError(f"{folder / 'metadata.json'} names no run")
    label = _label(agent or _agent(folder, metadata))
    competitions = sorted({run.competition for run in found})
    seeds = max(run.seed for run in found) + 1
    plan = parse_plan(
        f"competitions = {json.dumps(competitions)}\nseeds = {seeds}\n"
        f"[[agents]]\nname = {json.dumps(label)}\nlabel = {json.dumps(label)}\n"
    )
    group = create_group(runs, name or _label(folder.name), plan)
    planned = {(record.competition, record.seed): record for record in planned_records(group)}
    created = str(metadata.get("created_at") or "") or None
    left_out: list[str] = []
    for run in found:
        record = evolve(
            planned[run.competition, run.seed],
            agent=PluginUse(name=label),
            backend=PluginUse(name=BENCHMARK),
            imported_from=BENCHMARK,
            created_at=created,
        )
        _write(record, run, left_out)
    Journal(group.folder).note("imported", runs=len(found))
    return Imported(
        group=group.name,
        runs=len(found),
        without_grade=tuple(run.folder.name for run in found if run.report is None),
        left_out=tuple(left_out),
    )


def _metadata(folder: Path) -> Mapping[str, Any]:
    path = folder / "metadata.json"
    fix = "Give the folder of a run group: it has metadata.json, and a folder for each run."
    try:
        values = read_json(path)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}", fix=fix) from None
    except SchemaError as error:
        raise UsageError(error.message, fix=fix) from None
    if not isinstance(values, dict) or not isinstance(values.get("runs"), dict):
        raise UsageError(f"{path} has no table of runs", fix=fix)
    return values


def _runs(folder: Path, metadata: Mapping[str, Any], reports: Sequence[Report]) -> list[_Run]:
    """Each run with its report: the one whose submission lies in the run's folder, else the next of its competition."""
    named = sorted(metadata["runs"])
    for name in named:
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*_[A-Za-z0-9-]+", name):
            raise UsageError(f"{folder / 'metadata.json'}: {name!r} is not a run: expected <competition>_<id>")
    by_run = {name: report for report in reports for name in named if name in Path(report.submission_path).parts}
    taken = {id(report) for report in by_run.values()}
    rest: dict[str, list[Report]] = defaultdict(list)
    for report in reports:
        if id(report) not in taken:
            rest[report.competition_id].append(report)
    seeds: dict[str, int] = defaultdict(int)
    found = []
    for name in named:
        competition = name.rpartition("_")[0]
        matched = by_run.get(name) or (rest[competition].pop(0) if rest[competition] else None)
        found.append(_Run(competition=competition, seed=seeds[competition], folder=folder / name, report=matched))
        seeds[competition] += 1
    return found


def _agent(folder: Path, metadata: Mapping[str, Any]) -> str:
    """Its groups are named <time>_run-group_<agent>."""
    return str(metadata.get("run_group") or folder.name).rpartition("run-group_")[2]


def _label(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+|--+", "-", text).strip("-.")[:80] or "imported"


def _write(record: RunRecord, run: _Run, left_out: list[str]) -> None:
    files.make_folder(record.folder)
    submission = run.folder / "submission" / "submission.csv"
    kept = _copy(run.folder, record.folder, [submission], _SUBMISSION_LIMIT, left_out)
    others = [path for part in ("logs", "code") for path in regular_files(run.folder / part)]
    copied = _copy(run.folder, record.folder, others, _KEPT_LIMIT, left_out)
    if run.report is not None:
        report = evolve(run.report, run=record.uid, submission_path="submission/submission.csv" if kept else "")
        content = json.dumps(report.to_json(), indent=1, ensure_ascii=False) + "\n"
        files.publish(record.folder / "grade.json", content.encode())
    write_record(
        evolve(
            record,
            state="graded" if run.report is not None else "collected",
            reason="" if run.report is not None else "imported without a grading report",
            gradings=int(run.report is not None),
            collected=Collected(
                files=kept + copied, candidate="submission/submission.csv" if kept else None, complete=not left_out
            ),
        )
    )


def _copy(source: Path, target: Path, paths: Sequence[Path], limit: int, left_out: list[str]) -> int:
    """Copy regular files while their bytes fit; the number of those copied."""
    left, copied = limit, 0
    for path in paths:
        if not path.is_file() or path.is_symlink() or path.parent.is_symlink():
            if path.is_symlink() or path.exists():
                left_out.append(f"{path}: it is a link, or no regular file")
            continue
        try:
            content = files.read_regular(path, left)
        except (DataError, OSError) as error:
            left_out.append(f"{path}: {error}")
            continue
        to = target / path.relative_to(source)
        files.make_folder(to.parent)
        files.replace(to, content)
        left -= len(content)
        copied += 1
    return copied
