"""Grade the submissions of a group again, and compare with what its records and grade files say.

Every field of a report that grading derives is compared, also those that a later version adds: all but the few of
``_NOT_DERIVED``. Whoever edits one, and computes all digests again, is found out.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import fields, frozen

from mlecore.data.layout import DataDirs
from mlecore.errors import GradingError, MlecoreError
from mlecore.model.record import RunRecord
from mlecore.model.report import Report, read_report
from mlecore.runs.same_data import require_same_data
from mlecore.runs.store import load_group
from mlecore.util.schema import SchemaError

if TYPE_CHECKING:
    from mlecore.data.prepared import Prepared
    from mlecore.grading.isolated import IsolatedGrader
    from mlecore.model.facts import Facts

_NOT_DERIVED = (
    "created_at",  # of this grading
    "submission_path",  # on this machine
    "run",  # the record's own name
    "began_with",  # says that the author chose another plugin; plugin_source says which
    "plugin",  # its version in words; plugin_source is its code
    "extra",  # what a newer version wrote, which nothing of this one shows
)
# Where these are null, nobody knows; "reason" is compared only where it must be empty, as versions word it otherwise.
_MARKS = ("threshold_percentiles", "sample_percentile")  # an invalid submission has them, too
_HUMANS = (*_MARKS, "rank", "teams", "percentile", "best_human")  # where Kaggle's leaderboard was not fetched
_SAMPLE = ("sample_score", "beats_sample")  # where grading the sample, too, would take too long
_PRECISION = 1e-9  # relative: another processor adds in another order


@frozen(kw_only=True)
class Regraded:
    """One run. ``different`` names what has changed; ``undecided`` says why it could not be graded again."""

    run: str
    different: tuple[str, ...] = ()
    undecided: str = ""


@frozen(kw_only=True)
class Regrading:
    """Every graded run of a group."""

    runs: tuple[Regraded, ...]

    @property
    def different(self) -> list[Regraded]:
        return [each for each in self.runs if each.different]

    @property
    def undecided(self) -> list[Regraded]:
        return [each for each in self.runs if each.undecided]

    @property
    def same(self) -> int:
        return len(self.runs) - len(self.different) - len(self.undecided)


def regrade(group: Path, dirs: DataDirs) -> Regrading:
    """Grade every run of a group's folder that has a grade; its own files stay as they are."""
    from mlecore.grading.isolated import IsolatedGrader

    with IsolatedGrader() as grader:
        graded = [record for record in load_group(group) if record.state == "graded" or record.report]
        return Regrading(runs=tuple(_graded(record, dirs, grader) for record in graded))


def _graded(record: RunRecord, dirs: DataDirs, grader: IsolatedGrader) -> Regraded:
    try:
        return _again(record, dirs, grader)
    except (MlecoreError, SchemaError, OSError) as error:
        return Regraded(run=record.name, undecided=f"{error}".partition("\n")[0] or type(error).__name__)


def _again(record: RunRecord, dirs: DataDirs, grader: IsolatedGrader) -> Regraded:
    from mlecore.data.opening import open_prepared
    from mlecore.plugins.competitions import competition

    target = competition(record.competition, record.edition)
    then = read_report(record.folder / "grade.json", below=record.folder.parent)
    data = open_prepared(target, dirs, synthetic=record.synthetic)
    require_same_data(record, data)
    kinds = (record.data_kind, data.kind(target.facts))
    if "unverified" in kinds and kinds[0] != kinds[1]:
        raise GradingError(f"the data of {record.competition} are {kinds[0]} in its record, and {kinds[1]} here")
    submission = record.folder / "submission" / "submission.csv"
    now = grader.grade(target, submission if submission.is_file() else None, data, record.grader)
    if then.plugin_source != now.plugin_source:
        raise GradingError("its grade.json is by another plugin than is installed here")
    different, unknown = _differences(then, now)
    if record.data_kind not in (None, now.data_kind):
        different.append(f"data_kind in run.json: {record.data_kind} then, {now.data_kind} now")
    unknown += _unrecorded(record, target.facts, data)
    return Regraded(run=record.name, different=tuple(different), undecided="" if different else "; ".join(unknown[:3]))


def _unrecorded(record: RunRecord, facts: Facts, data: Prepared) -> Iterator[str]:
    """What its record does not name, so that it may have been something else."""
    named = {"kind of data": record.data_kind, "public data": record.data_digest, "answers": record.answers_digest}
    yield from (f"its record does not say which {what} it had" for what, value in named.items() if value is None)
    if record.obfuscation != "full":  # its names are secret, and differ between machines
        hidden = record.obfuscation == "description"
        text = facts.obfuscated_description if hidden else data.description(facts)
        if hashlib.sha256(text.encode()).hexdigest() != record.description_digest:
            yield "its record names another description than is installed here"


def _differences(then: Report, now: Report) -> tuple[list[str], list[str]]:
    """What this grading found otherwise, and what only the other one could find."""
    different: list[str] = []
    absent: list[str] = []
    humans = () if now.gold_threshold is None else _HUMANS if now.valid_submission else _MARKS
    underivable = {*humans, *(_SAMPLE if now.sample_score is None else ())}
    for name in (each.name for each in fields(Report) if each.name not in _NOT_DERIVED):
        was, found = getattr(then, name), getattr(now, name)
        if _same(was, found) or (name in _HUMANS and was is None) or (name == "reason" and now.status != "graded"):
            continue
        if found is None and name in underivable:
            absent.append(f"{name}: {was!s:.99} then, unknown here")
        else:
            different.append(f"{name}: {was!s:.99} then, {found!s:.99} now")
    return different, absent


def _same(then: Any, now: Any) -> bool:
    """Numbers, also those in texts, up to rounding."""
    if then == now or isinstance(then, bool):
        return bool(then == now)
    try:
        return math.isclose(float(then), float(now), rel_tol=_PRECISION, abs_tol=1e-12)
    except (TypeError, ValueError, OverflowError):
        return False
