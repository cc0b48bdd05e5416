"""Groups to and from JSON lines, as MLE-bench's tools read them: the paths of each run's submission, logs and code."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from attrs import evolve
from mle_ext_report.grading_reports import BENCHMARK, read_reports

from mle_ext_sharing.foreign import ForeignRun, create_imported, label_of
from mlecore.errors import DataError, UsageError
from mlecore.grading.batch import Line, read_jsonl
from mlecore.model.imported import Imported
from mlecore.model.record import WITH_OUTPUT
from mlecore.runs.store import load_group
from mlecore.util import files
from mlecore.util.regular import is_regular, regular_files
from mlecore.util.scratch import scratch


def write_jsonl(group: Path, to: Path) -> int:
    """List the runs of a group that have ended, with absolute paths and null for what is missing. Returns how many.

    Raises UsageError if ``to`` exists or cannot be written, DataError if a record is damaged.
    """
    if to.exists():
        raise UsageError(f"{to} already exists", fix="Name another file: --to")
    damaged: list[str] = []
    runs = [run for run in load_group(group.resolve(), damaged) if run.state in WITH_OUTPUT]
    if damaged:
        raise DataError(f"a run cannot be listed: {damaged[0]}")
    listed = [
        {
            "competition_id": run.competition,
            "submission_path": None if run.submission is None else str(run.submission),
            **{
                f"{name}_path": str(path) if (path := run.folder / name).is_dir() else None for name in ("logs", "code")
            },
        }
        for run in runs
    ]
    with files.output(to) as new:
        new.parent.mkdir(parents=True, exist_ok=True)
        new.write_text("".join(json.dumps(line) + "\n" for line in listed), encoding="utf-8")
    return len(listed)


def import_jsonl(
    path: Path, runs: Path, *, reports: Sequence[Path] = (), agent: str | None = None, name: str | None = None
) -> Imported:
    """Create a group from listed submissions, logs and code, and MLE-bench's grading reports of these submissions.

    Several lines of one competition are seeds 0, 1, ... Raises UsageError.
    """
    graded = {Path(report.submission_path): report for each in reports for report in read_reports(each)}
    found, left_out = [], []
    with scratch() as folder:
        for number, line in enumerate(read_jsonl(path), 1):
            left_out += [f"run {number}: {each}" for each in _gather(line, folder / str(number))]
            found.append(
                ForeignRun(
                    name=f"run {number}",
                    label=label_of(agent or path.stem),
                    competition=line.competition_id,
                    folder=folder / str(number),
                    report=graded.get(line.submission_path) if line.submission_path else None,
                )
            )
        imported = create_imported(found, runs, name or label_of(path.stem), harness=BENCHMARK)
    return evolve(imported, left_out=(*left_out, *imported.left_out))


def _gather(line: Line, to: Path) -> Iterator[str]:
    """Put the files of a run where an import looks for them; yields what is left out. No link is followed.

    Logs and code may each be a file or a folder.
    """
    for part, source in (("submission", line.submission_path), ("logs", line.logs_path), ("code", line.code_path)):
        if source is None:
            continue
        single = is_regular(source)
        if not single and (part == "submission" or source.is_symlink() or not source.is_dir()):
            yield f"{source} is missing, or no regular file"
            continue
        for path in [source] if single else regular_files(source):
            name = "submission.csv" if part == "submission" else path.relative_to(source.parent if single else source)
            target = to / part / name
            files.make_folder(target.parent)
            files.link_or_copy(path, target)
