"""MLE-bench's grading reports as runs: a file is a seed.

Such a file has ``competition_reports``, a list with the keys of our own reports; runs import keeps them as groups.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

from mle_ext_report.graded import Graded
from mlecore.errors import UsageError
from mlecore.model.data_kind import DataKind
from mlecore.model.facts import Comparability
from mlecore.model.provenance import PluginUse
from mlecore.model.record import RunRecord
from mlecore.model.report import Report
from mlecore.util.schema import SchemaError, read_json

BENCHMARK = "MLE-bench"


def read_grading_reports(paths: Sequence[Path]) -> list[Graded]:
    """All files as seeds of one setup. Raises UsageError that says what is wrong in which file."""
    found = []
    first = 0
    for path in paths:
        reports = read_reports(path)
        times: Counter[str] = Counter()
        for report in reports:
            seed = first + times[report.competition_id]  # a file may list a competition several times: one seed each
            times[report.competition_id] += 1
            found.append(Graded(run=imported_record(report, path.stem, seed), report=report))
        first += max(times.values(), default=1)
    return found


def read_reports(path: Path) -> list[Report]:
    """The reports of one file. Raises UsageError."""
    try:
        values = read_json(path, finite=False)  # MLE-bench writes NaN
    except FileNotFoundError:
        raise UsageError(f"there is no grading report {path}") from None
    except OSError as error:
        raise UsageError(f"the grading report {path} cannot be read: {error.strerror}") from None
    except SchemaError as error:
        raise UsageError(f"the grading report {error.message}") from None
    listed = values.get("competition_reports") if isinstance(values, dict) else values or None
    if isinstance(values, dict) and "competition_id" in values:  # one report alone
        listed = [values]
    if not isinstance(listed, list):
        raise UsageError(
            f"{path} is not a grading report: it has no list competition_reports",
            fix="MLE-bench's `mlebench grade` and `mlecore grade --jsonl --output` write such files.",
        )
    return [report_of(item, f"{path}, competition_reports[{number}]") for number, item in enumerate(listed)]


_BOOLEANS = (
    *("any_medal", "gold_medal", "silver_medal", "bronze_medal", "above_median"),
    *("submission_exists", "valid_submission", "is_lower_better"),
)
_NUMBERS = ("score", "sample_score", "gold_threshold", "silver_threshold", "bronze_threshold", "median_threshold")


def report_of(item: Any, where: str) -> Report:
    """A report from its JSON object. Raises UsageError that says what is wrong and ``where``."""
    if not isinstance(item, Mapping):
        raise UsageError(f"{where} is not an object")
    values = {key: item.get(key) for key in ("competition_id", *_BOOLEANS)}
    values |= {key: float(value) if type(value := item.get(key)) is int else value for key in _NUMBERS}
    score = values["score"]
    status = "graded" if item.get("valid_submission") else "invalid" if item.get("submission_exists") else "none"
    values |= {
        "score": None if isinstance(score, float) and not math.isfinite(score) else score,
        "score_text": None if score is None else item.get("score_text") or repr(score),
        "created_at": str(item.get("created_at", "")),
        "submission_path": str(item.get("submission_path", "")),
        "status": status,
        "reason": str(item.get("reason") or ("not said" if status == "invalid" else "")),
        "edition": str(item.get("edition", "v1")),
        "comparability": of if (of := item.get("comparability")) in get_args(Comparability) else "same",
        "data_kind": kind if (kind := item.get("data_kind")) in get_args(DataKind) else "published",
        "beats_sample": beats if isinstance(beats := item.get("beats_sample"), bool) else None,
    }
    try:
        return Report.from_json(values)
    except SchemaError as error:
        raise UsageError(f"{where}: {error.message}") from None


def imported_record(report: Report, group: str, seed: int, agent: str = BENCHMARK) -> RunRecord:
    """The record of a run that is known only by its report; marked as imported."""
    name = f"{agent}--{report.competition_id}--{seed}"
    return RunRecord(
        uid=hashlib.sha256(f"{group}/{name}".encode()).hexdigest()[:12],
        name=name,
        group=group,
        group_uid=hashlib.sha256(group.encode()).hexdigest()[:16],
        competition=report.competition_id,
        edition=report.edition,
        data_kind=report.data_kind,
        agent=PluginUse(name=agent),
        label=agent,
        backend=PluginUse(name=BENCHMARK),
        seed=seed,
        state="graded",
        created_at=report.created_at or None,
        imported_from=BENCHMARK,
        gradings=1,
    )
