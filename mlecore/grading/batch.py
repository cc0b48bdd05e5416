"""Submissions listed in a JSON-lines file, and the totals that tools for MLE-bench read."""

from __future__ import annotations

import json
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator, Sequence
from contextlib import suppress
from json import JSONDecodeError
from pathlib import Path
from typing import Any

from attrs import frozen

from mlecore.errors import UsageError
from mlecore.model.report import Report
from mlecore.plugins.competitions import id_of
from mlecore.util import validation
from mlecore.util.schema import brief

_MOST_BYTES = 64 * 2**20  # of a listing: some hundred thousand lines


@frozen
class Line:
    """One submission to grade, and where its run left more."""

    competition_id: str
    submission_path: Path | None
    logs_path: Path | None = None  # a file or a folder
    code_path: Path | None = None


def read_jsonl(path: Path) -> list[Line]:
    """Lines with ``competition_id`` and ``submission_path`` (null: none), perhaps ``logs_path`` and ``code_path``.

    Blank lines and # comments are skipped. An array of them, or one object, is read as well. A competition may be given
    by its URL. A relative path starts at the working directory, or where nothing is there, at the folder of the file.
    Reads at most 64 MiB. Raises UsageError that names the line, also for a file that lists nothing.
    """
    lines = []
    for where, item in _items(_text(path)):
        try:
            values = json.loads(item) if where.startswith("line") else item
            lines.append(_line(values, path.parent))
        except (ValueError, TypeError, RecursionError) as error:
            why = (
                f"it is not JSON: {error.msg} at column {error.colno}" if isinstance(error, JSONDecodeError) else error
            )
            raise UsageError(f"{path}, {where}: {why}", fix=f"A line looks like this: {_EXAMPLE}") from None
    if not lines:
        raise UsageError(f"{path} lists no submissions", fix=f"Add lines like this: {_EXAMPLE}")
    return lines


_EXAMPLE = '{"competition_id": "spaceship-titanic", "submission_path": "a.csv"}'


def _items(text: str) -> Iterator[tuple[str, Any]]:
    """Where each one is, and it or its line."""
    with suppress(ValueError, RecursionError):
        whole = json.loads(text)
        if isinstance(whole, dict) and isinstance(whole.get("submissions"), list):
            whole = whole["submissions"]
        yield from ((f"item {number}", item) for number, item in enumerate(_listed(whole), 1))
        return
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip().removesuffix(",")
        if line and not line.startswith(("#", "//")):
            yield f"line {number}", line


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _line(values: Any, beside: Path) -> Line:
    """Raises ValueError and TypeError."""
    if not isinstance(values, dict):
        raise TypeError(f"expected an object with competition_id and submission_path, not {brief(values)}")
    for key in ("competition_id", "submission_path"):
        if key not in values:
            raise ValueError(f"the key {key!r} is missing; it has {', '.join(map(brief, values)) or 'none'}")
    id = values["competition_id"]
    paths = [values.get(f"{name}_path") for name in ("submission", "logs", "code")]
    if not isinstance(id, str) or not all(isinstance(path, str | None) for path in paths):
        raise TypeError("competition_id must be text; submission_path text or null, as logs_path and code_path")
    return Line(id_of(id), *(_place(path, beside) for path in paths))


def _place(path: str | None, beside: Path) -> Path | None:
    if not path:
        return None
    there = validation.path(path, "a submission").expanduser()
    return there if there.exists() or not (beside / there).exists() else beside / there


def _text(path: Path) -> str:
    """The text of a file or a pipe; a device may have no end."""
    try:
        with path.open("rb") as file:
            content = file.read(_MOST_BYTES + 1)
        if len(content) > _MOST_BYTES:
            raise UsageError(f"{path} has more than {_MOST_BYTES >> 20} MiB", fix="Grade it in several parts.")
        return content.decode("utf-16" if content.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) else "utf-8-sig")
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
