"""The report of one graded submission: the keys that tools for MLE-bench read, and more."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from attrs import asdict, field, frozen

from mlecore.competitions import Competition
from mlecore.data.prepared import DataKind, Prepared
from mlecore.data.sample import open_sample
from mlecore.errors import DataError, GradingError, InvalidSubmission, MlecoreError
from mlecore.facts import Comparability, Facts, Thresholds
from mlecore.grading import scoring
from mlecore.grading.medals import thresholds_for
from mlecore.grading.rank import rank_of, read_leaderboard
from mlecore.schema import NOT_IN_FILE, plain, read_newer, structure_newer

DECIMALS = 5
"""Scores are rounded to so many decimals before they meet thresholds, as the published benchmark does."""


@frozen(kw_only=True)
class Report:
    """How one submission did.

    ``score`` is rounded to 5 decimals; None for an invalid submission and for a score that JSON has no number for:
    ``score_text`` then says "nan", "inf" or "-inf". There are medals on published data only.
    """

    competition_id: str  # as Kaggle spells it
    score: float | None  # rounded to 5 decimals; null where there is none, and for NaN and infinities
    gold_threshold: float | None  # the score at which gold begins; null where there are no medals
    silver_threshold: float | None  # where silver begins
    bronze_threshold: float | None  # where bronze begins
    median_threshold: float | None  # the median of the human leaderboard
    any_medal: bool  # gold, silver or bronze
    gold_medal: bool  # reached gold
    silver_medal: bool  # reached silver, but not gold
    bronze_medal: bool  # reached bronze, but not silver
    above_median: bool  # better than the median of the human leaderboard
    submission_exists: bool  # was there a file?
    valid_submission: bool  # could it be graded?
    is_lower_better: bool  # of two scores
    created_at: str  # ISO 8601, UTC
    submission_path: str  # in a run's folder, relative to it; "" where there is none
    status: Literal["graded", "invalid", "none"]  # none: there was no submission
    reason: str = ""  # why it is invalid
    edition: str = "v1"  # of the competition
    comparability: Comparability = "same"  # of the edition's medals with v1's; "none": there are no medals
    data_kind: DataKind = "published"  # what the score was reached on; only on published data there are medals
    score_text: str | None = None  # every digit of the unrounded score
    sample_score: float | None = None  # of the sample submission; null if it is unknown or undefined
    beats_sample: bool | None = None  # is the score better than the sample's? null where either has no score
    plugin: str = ""  # distribution and version that graded
    plugin_source: str = ""  # SHA-256 of that plugin's files
    began_with: str = ""  # the plugin that the run's group began with, where another one graded on request
    rank: int | None = None  # on the whole human leaderboard, where that was fetched: 1 is the best
    teams: int | None = None  # on that leaderboard
    percentile: float | None = None  # share of them that are not better, in percent
    best_human: float | None = None  # the best score on that leaderboard
    run: str = ""  # uid of the run, where it is one's
    extra: Mapping[str, Any] = field(factory=dict, eq=False, metadata=NOT_IN_FILE)  # what a newer version wrote; kept

    @property
    def medal(self) -> str | None:
        """ "gold", "silver", "bronze" or None."""
        return next((name for name in ("gold", "silver", "bronze") if getattr(self, f"{name}_medal")), None)

    @property
    def exact(self) -> float | None:
        """The unrounded score, None if there is none."""
        return None if self.score_text is None else float(self.score_text)

    def to_json(self) -> dict[str, Any]:
        """A dictionary that json.dumps takes without NaN or infinities."""
        return {name: None if _has_no_number(value) else value for name, value in plain(self).items()}

    @classmethod
    def from_json(cls, values: object) -> Report:
        """The inverse; keys that a newer version wrote are kept. Raises SchemaError."""
        return structure_newer(cls, values)


def read_report(path: Path, *, below: Path | None = None) -> Report:
    """The report in a grade.json; no link is followed from the folder ``below`` on. Raises SchemaError that names the
    file, OSError."""
    return read_newer(Report, path, below=below)


def _has_no_number(value: object) -> bool:
    """NaN and infinities: JSON has no number for them."""
    return isinstance(value, float) and not math.isfinite(value)


def award(facts: Facts, score: float, thresholds: Thresholds | None) -> dict[str, Any]:
    """The part of a report that follows from a score: medals are reached at the threshold, the median must be beaten.

    NaN earns nothing; infinities are compared.
    """
    rounded = _rounded(score)
    gold = thresholds is not None and facts.reaches(rounded, thresholds.gold)
    silver = thresholds is not None and not gold and facts.reaches(rounded, thresholds.silver)
    bronze = thresholds is not None and not (gold or silver) and facts.reaches(rounded, thresholds.bronze)
    return {
        "score": rounded if math.isfinite(rounded) else None,
        "score_text": repr(score),
        "gold_medal": gold,
        "silver_medal": silver,
        "bronze_medal": bronze,
        "any_medal": gold or silver or bronze,
        "above_median": thresholds is not None and facts.better(rounded, thresholds.median),
    }


def _rounded(score: float) -> float:
    return round(score, DECIMALS) if math.isfinite(score) else score


_NOTHING: Mapping[str, Any] = {
    "score": None,
    "gold_medal": False,
    "silver_medal": False,
    "bronze_medal": False,
    "any_medal": False,
    "above_median": False,
}


def grade(competition: Competition, submission: Path | None, data: Prepared) -> Report:
    """Grade one submission against the answers of ``data``, and place it on the human leaderboard.

    On published data: medals, and the rank where the whole leaderboard is at hand. In any case the sample submission's
    score to compare with, unless grading that too could break the time limit. An invalid or missing submission makes a
    report that says so; GradingError is raised only for what is not the submission's fault.
    """
    from mlecore.data.recheck import require_grading_data
    from mlecore.registry.provenance import plugin_use

    facts = competition.facts
    try:
        require_grading_data(facts, data)
    except DataError as error:
        raise GradingError(error.message, fix=error.fix) from error
    kind = data.kind(facts)
    thresholds = thresholds_for(facts) if kind == "published" and facts.comparability != "none" else None
    score: float | None = None
    began = time.monotonic()
    if submission is None or not os.path.lexists(submission):
        result: dict[str, Any] = {**_NOTHING, "status": "none", "reason": "there is no submission"}
    else:
        try:
            score = scoring.score(competition, submission, data.private, data.public)
            result = {**award(facts, score, thresholds), "status": "graded"}
        except InvalidSubmission as error:
            result = {**_NOTHING, "status": "invalid", "reason": str(error)}
    compared = _with_humans(facts, score, data) if thresholds else {}
    if time.monotonic() - began < facts.limits.seconds / 3:
        compared |= _with_sample(competition, score, data)
    return Report(
        competition_id=facts.id,
        gold_threshold=thresholds.gold if thresholds else None,
        silver_threshold=thresholds.silver if thresholds else None,
        bronze_threshold=thresholds.bronze if thresholds else None,
        median_threshold=thresholds.median if thresholds else None,
        submission_exists=result["status"] != "none",
        valid_submission=result["status"] == "graded",
        is_lower_better=facts.lower_is_better,
        created_at=datetime.now(UTC).isoformat(timespec="seconds"),
        submission_path="" if submission is None else str(submission),
        edition=competition.edition,
        comparability=facts.comparability,
        data_kind=kind,
        plugin=f"{competition.plugin.distribution} {competition.plugin.version}",
        plugin_source=plugin_use(competition.plugin).source,
        **result,
        **compared,
    )


def _with_sample(competition: Competition, score: float | None, data: Prepared) -> dict[str, Any]:
    """What the sample submission scores, and whether ``score`` is better."""
    try:
        with open_sample(competition.facts, data.public) as sample:
            base = scoring.score(competition, sample, data.private, data.public)
    except MlecoreError:  # the sample is missing or cannot be graded: nothing to compare with
        return {}
    # the sample's score may be undefined, as a correlation with one and the same value everywhere: nothing to beat
    beats = None if score is None or math.isnan(base) else competition.facts.better(score, base)
    return {"sample_score": base if math.isfinite(base) else None, "beats_sample": beats}


def _with_humans(facts: Facts, score: float | None, data: Prepared) -> dict[str, Any]:
    """The rank on the leaderboard that was fetched with the data, else on the competition's own."""
    files = [path for path in (data.leaderboard, facts.folder / "leaderboard.csv") if path and path.is_file()]
    if score is None or not files:
        return {}
    rank = rank_of(_rounded(score), read_leaderboard(files[0]), facts.lower_is_better)
    return {} if rank is None else asdict(rank)
