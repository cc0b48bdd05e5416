"""Where a report's runs come from: groups, folders of single runs, and MLE-bench's grading reports."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from attrs import evolve

from mle_ext_report.graded import Graded, read_graded
from mlecore.errors import UsageError
from mlecore.runs.folders import is_group
from mlecore.runs.store import load_group, open_group, planned_records


def read_sources(groups: Sequence[str], files: Sequence[Path], runs: Path) -> list[Graded]:
    """Every run once. Of ``groups``, paths of JSON files are grading reports like ``files``. Raises UsageError."""
    from mle_ext_report.grading_reports import read_grading_reports

    named = [Path(group) for group in groups if group.endswith(".json") and Path(group).is_file()]
    found: dict[str, Graded] = {}
    for group in groups:
        if Path(group) not in named:
            for graded in _group(group, runs):
                found.setdefault(graded.run.uid, graded)
    reports = read_grading_reports([*files, *named]) if files or named else []
    if not found and not reports:
        if files or named:
            raise UsageError(f"{', '.join(map(str, (*files, *named)))}: no run is in it")
        raise UsageError(
            "say what to report on: mlecore report GROUP, or --grading-reports FILE",
            fix="`mlecore runs list` shows the groups.",
        )
    return [*found.values(), *reports]


def _group(group: str, runs: Path) -> Iterator[Graded]:
    folder = runs / group if (runs / group).is_dir() else Path(group)
    if not folder.is_dir():
        raise UsageError(f"there is no group {group!r} in {runs}", fix="`mlecore runs list` shows the groups.")
    records, plan = load_group(folder), None
    if is_group(folder):
        opened = open_group(folder)
        plan, known = opened.plan, {record.name for record in records}
        # planned runs of which no record could be read are missing, but remain in every denominator
        lost = (record for record in planned_records(opened) if record.name not in known)
        records += [evolve(record, state="failed", reason="its run.json cannot be read") for record in lost]
    if not records:
        raise UsageError(f"the group {group!r} has no runs yet")
    return (read_graded(record, plan) for record in records)
