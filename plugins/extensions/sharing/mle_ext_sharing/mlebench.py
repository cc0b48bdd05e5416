"""Imports MLE-bench's run groups and grading reports.

Such a group is a folder with ``metadata.json`` (its ``runs`` has a key for each run, also the run's folder, named
``<competition>_<id>``), what each run left (``submission/submission.csv``, ``logs/``, ``code/``), and perhaps grading
reports. ``metadata.json`` is written last, so a group that was killed lacks it. What a group does not say (time limit,
hardware, network, data) stays unknown.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mle_ext_report.grading_reports import BENCHMARK, read_reports

from mle_ext_sharing.foreign import ForeignRun, create_imported, label_of
from mlecore.errors import UsageError
from mlecore.model.imported import Imported
from mlecore.model.report import Report
from mlecore.util.schema import SchemaError, read_json

_RUN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*_[A-Za-z0-9-]+")


def import_group(
    folder: Path, runs: Path, *, reports: Sequence[Path] = (), agent: str | None = None, name: str | None = None
) -> Imported:
    """Create a group in ``runs`` from one of MLE-bench's.

    ``reports`` are its grading reports; by default those that lie in the folder. Several runs of one competition are
    seeds 0, 1, ... in the order of their names. Raises UsageError.
    """
    metadata = _metadata(folder)
    reports = reports or sorted(folder.glob("*grading_report*.json"))
    label = label_of(agent or _agent(folder, metadata))
    found = _runs(folder, metadata, label, [report for path in reports for report in read_reports(path)])
    if not found:
        raise UsageError(f"{folder / 'metadata.json'} names no run")
    created = str(metadata.get("created_at") or "") or None
    return create_imported(found, runs, name or label_of(folder.name), harness=BENCHMARK, created_at=created)


def import_report(path: Path, runs: Path, *, agent: str | None = None, name: str | None = None) -> Imported:
    """Create a group from a grading report alone, without submissions. Raises UsageError."""
    found = []
    for number, report in enumerate(read_reports(path)):
        found.append(
            ForeignRun(
                name=f"{path.name}, report {number}",
                label=label_of(agent or path.stem),
                competition=report.competition_id,
                folder=None,
                report=report,
            )
        )
    if not found:
        raise UsageError(f"{path} is a grading report of no run", fix="Grade the runs again, then import the report.")
    return create_imported(found, runs, name or label_of(path.stem), harness=BENCHMARK)


def run_folders(folder: Path) -> list[str]:
    """Names of the folders that look like runs of MLE-bench."""
    left = ("submission/submission.csv", "run.log", "logs")
    return sorted(
        path.name
        for path in (folder.iterdir() if folder.is_dir() else ())
        if _RUN.fullmatch(path.name) and any((path / part).exists() for part in left)
    )


def _metadata(folder: Path) -> Mapping[str, Any]:
    path = folder / "metadata.json"
    if not path.exists():
        return {"runs": dict.fromkeys(run_folders(folder))}
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


def _runs(folder: Path, metadata: Mapping[str, Any], label: str, reports: Sequence[Report]) -> list[ForeignRun]:
    """Each run with its report: the one whose submission lies in the run's folder, else the next of its competition."""
    named = sorted(metadata["runs"])
    for name in named:
        if not _RUN.fullmatch(name):
            raise UsageError(f"{folder / 'metadata.json'}: {name!r} is not a run: expected <competition>_<id>")
    by_run = {name: report for report in reports for name in named if name in Path(report.submission_path).parts}
    taken = {id(report) for report in by_run.values()}
    rest: dict[str, list[Report]] = defaultdict(list)
    for report in reports:
        if id(report) not in taken:
            rest[report.competition_id].append(report)
    found = []
    for name in named:
        competition = name.rpartition("_")[0]
        matched = by_run.get(name) or (rest[competition].pop(0) if rest[competition] else None)
        found.append(
            ForeignRun(
                name=name,
                label=label,
                competition=competition,
                folder=folder / name,
                report=matched,
            )
        )
    return found


def _agent(folder: Path, metadata: Mapping[str, Any]) -> str:
    """Its groups are named <time>_run-group_<agent>."""
    return str(metadata.get("run_group") or folder.name).rpartition("run-group_")[2]
