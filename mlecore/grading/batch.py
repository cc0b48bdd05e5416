"""Submissions listed in a JSON-lines file, and the totals that tools for MLE-bench read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from attrs import frozen

from mlecore.errors import UsageError
from mlecore.grading.report import Report

_MOST_BYTES = 64 * 2**20  # of a listing: some hundred thousand lines


@frozen
class Line:
    """One submission to grade."""

    competition_id: str
    submission_path: Path | None


def read_jsonl(path: Path) -> list[Line]:
    """Lines with ``competition_id`` and ``submission_path`` (null: none); blank lines and # comments are skipped.

    Relative paths start at the working directory. Reads at most 64 MiB. Raises UsageError that names the line.
    """
    lines = []
    for number, text in enumerate(_text(path).splitlines(), 1):
        text = text.strip()
        if not text or text.startswith(("#", "//")):
            continue
        try:
            values = json.loads(text)
            submission = values["submission_path"]
            lines.append(Line(str(values["competition_id"]), Path(submission) if submission else None))
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            what = f"the key {error} is missing" if isinstance(error, KeyError) else str(error)
            raise UsageError(
                f"{path}, line {number}: {what}",
                fix='A line looks like this: {"competition_id": "spaceship-titanic", "submission_path": "a.csv"}',
            ) from None
    return lines


def _text(path: Path) -> str:
    """Of a file or a pipe; a device may have no end."""
    try:
        with path.open("rb") as file:
            content = file.read(_MOST_BYTES + 1)
        if len(content) > _MOST_BYTES:
            raise UsageError(f"{path} has more than {_MOST_BYTES >> 20} MiB", fix="Grade it in several parts.")
        return content.decode()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from None


def totals(reports: Sequence[Report]) -> dict[str, Any]:
    """The batch report."""
    return {
        "total_runs": len(reports),
        "total_runs_with_submissions": sum(r.submission_exists for r in reports),
        "total_valid_submissions": sum(r.valid_submission for r in reports),
        "total_medals": sum(r.any_medal for r in reports),
        "total_gold_medals": sum(r.gold_medal for r in reports),
        "total_silver_medals": sum(r.silver_medal for r in reports),
        "total_bronze_medals": sum(r.bronze_medal for r in reports),
        "total_above_median": sum(r.above_median for r in reports),
        "competition_reports": [r.to_json() for r in reports],
    }
