"""Imports a CSV of scores, from a paper or a spreadsheet: each row becomes a run, whose score is a claim."""

from __future__ import annotations

import csv
import math
from pathlib import Path
from typing import Any, get_args

from mle_ext_sharing.foreign import ForeignRun, create_imported, label_of
from mlecore.errors import DataError, UsageError
from mlecore.grading.medals import thresholds_for
from mlecore.grading.report import award
from mlecore.model.data_kind import DataKind
from mlecore.model.imported import Imported
from mlecore.model.report import Report
from mlecore.plugins.competitions import competition
from mlecore.runs.journal import now
from mlecore.util.regular import read_regular

_LIMIT = 64 * 2**20  # bytes
_FIX = (
    "Give it the columns competition and score; also agent, seed, edition and data_kind if they are not all the same."
)
_NAMES = {"competition_id": "competition", "id": "competition"}


def import_table(path: Path, runs: Path, *, agent: str | None = None, name: str | None = None) -> Imported:
    """Create a group from a table with the columns competition, score, and perhaps agent, seed, edition and data_kind.

    Medals are those of the human leaderboards of installed competitions. Raises UsageError that names the row.
    """
    found = []
    try:
        lines = read_regular(path, _LIMIT).decode("utf-8-sig").splitlines()
        rows = csv.DictReader(lines, strict=True)
        rows.fieldnames = [_NAMES.get(text.strip().lower(), text.strip().lower()) for text in rows.fieldnames or ()]
        if not {"competition", "score"} <= {*rows.fieldnames}:
            raise UsageError(f"{path} has no columns competition and score", fix=_FIX)
        for row in rows:
            place = f"{path}, line {rows.line_num}"
            label = label_of(agent or row.get("agent") or path.stem)
            id = (row["competition"] or "").strip()
            seed = _number(row["seed"], place) if (row.get("seed") or "").strip() else None
            if seed is not None and not seed.is_integer():
                raise UsageError(f"{place}: the seed {seed:g} is not a whole number")
            found.append(
                ForeignRun(
                    name=place,
                    label=label,
                    competition=id,
                    seed=None if seed is None else int(seed),
                    folder=None,
                    report=_report(row, id, _number(row["score"], place), place),
                )
            )
    except (DataError, OSError, UnicodeDecodeError, csv.Error) as error:
        raise UsageError(f"{path} cannot be read as a table of scores: {error}", fix=_FIX) from None
    if not found:
        raise UsageError(f"{path} has no row with a score", fix=_FIX)
    return create_imported(found, runs, name or label_of(path.stem), harness="table of scores")


def _number(text: str | None, place: str) -> float:
    if not (text or "").strip():
        return math.nan
    try:
        return float(text or "")
    except ValueError:
        raise UsageError(f"{place}: {(text or '')[:40]!r} is not a number", fix=_FIX) from None


def _report(row: dict[str, str], id: str, score: float, place: str) -> Report:
    edition, named = ((row.get(name) or "").strip() for name in ("edition", "data_kind"))
    if named not in ("", *get_args(DataKind)):
        raise UsageError(f"{place}: the kind of data {named[:40]!r} is none of {', '.join(get_args(DataKind))}")
    try:
        facts = competition(id, edition or "v1").facts
    except UsageError as error:
        raise UsageError(f"{place}: {error.message}", fix=error.fix) from None
    found, valid = thresholds_for(facts), not math.isnan(score)
    default: DataKind = "published" if found else "no_leaderboard"
    kind = next((each for each in get_args(DataKind) if each == named), default)
    thresholds = found if kind == "published" and facts.comparability != "none" else None
    values: dict[str, Any] = award(facts, score, thresholds)
    values |= {
        f"{level}_threshold": getattr(thresholds, level, None) for level in ("gold", "silver", "bronze", "median")
    }
    return Report(
        **values | ({} if valid else {"score_text": None}),
        competition_id=id,
        submission_exists=valid,
        valid_submission=valid,
        is_lower_better=facts.lower_is_better,
        created_at=now(),
        submission_path="",
        status="graded" if valid else "none",
        edition=facts.edition,
        comparability=facts.comparability,
        data_kind=kind,
    )
