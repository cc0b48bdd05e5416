"""One graded submission, with the keys that tools made for MLE-bench read, and ours beside them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from attrs import asdict, fields, frozen

from mlecore.errors import InvalidSubmission
from mlecore.facts import Facts
from mlecore.grading.medals import thresholds_for

if TYPE_CHECKING:
    from mlecore.competitions import Competition

DECIMALS = 5
"""Scores are rounded to so many decimals before they meet thresholds, as the published benchmark does."""


@frozen(kw_only=True)
class Report:
    """How one submission did.

    ``score`` is rounded to 5 decimals; None for an invalid submission and for a score that JSON has no number for:
    ``score_text`` then says "nan", "inf" or "-inf". On synthetic data and without thresholds there are no medals.
    """

    competition_id: str
    score: float | None
    gold_threshold: float | None
    silver_threshold: float | None
    bronze_threshold: float | None
    median_threshold: float | None
    any_medal: bool
    gold_medal: bool
    silver_medal: bool
    bronze_medal: bool
    above_median: bool
    submission_exists: bool
    valid_submission: bool
    is_lower_better: bool
    created_at: str  # ISO 8601, UTC
    submission_path: str
    status: Literal["graded", "invalid", "none"]
    reason: str = ""  # why it is invalid
    edition: str = "v1"
    synthetic: bool = False
    score_text: str | None = None  # every digit of the unrounded score
    sample_score: float | None = None  # what the sample submission scores, where no thresholds apply
    beats_sample: bool | None = None
    plugin: str = ""  # distribution and version that graded
    rank: int | None = None  # on the whole human leaderboard, where that was fetched: 1 is the best
    teams: int | None = None  # on that leaderboard
    percentile: float | None = None  # share of them that are not better, in percent

    @property
    def medal(self) -> str | None:
        """ "gold", "silver", "bronze" or None."""
        return next((name for name in ("gold", "silver", "bronze") if getattr(self, f"{name}_medal")), None)

    @property
    def exact(self) -> float | None:
        """The unrounded score, None where there is none."""
        return None if self.score_text is None else float(self.score_text)

    def to_json(self) -> dict[str, Any]:
        """A dictionary that json.dumps takes without NaN or infinities."""
        return {name: _plain(value) for name, value in asdict(self).items()}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Report:
        """The inverse; keys that a newer version wrote are left out."""
        known = {field.name for field in fields(cls)}
        return cls(**{name: value for name, value in values.items() if name in known})


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def award(facts: Facts, score: float, medals: bool = True) -> dict[str, Any]:
    """The part of a report that follows from a score: medals are reached at the threshold, the median must be beaten.

    NaN earns nothing; infinities are compared. ``medals`` is False where thresholds do not apply (synthetic data).
    """
    rounded = round(score, DECIMALS) if math.isfinite(score) else score
    thresholds = thresholds_for(facts) if medals else None
    gold = thresholds is not None and facts.reaches(rounded, thresholds.gold)
    silver = thresholds is not None and not gold and facts.reaches(rounded, thresholds.silver)
    bronze = thresholds is not None and not (gold or silver) and facts.reaches(rounded, thresholds.bronze)
    return {
        "score": rounded if math.isfinite(score) else None,
        "score_text": repr(score),
        "gold_medal": gold,
        "silver_medal": silver,
        "bronze_medal": bronze,
        "any_medal": gold or silver or bronze,
        "above_median": thresholds is not None and facts.better(rounded, thresholds.median),
    }


_NOTHING: Mapping[str, Any] = {
    "score": None,
    "gold_medal": False,
    "silver_medal": False,
    "bronze_medal": False,
    "any_medal": False,
    "above_median": False,
}


def report(competition: Competition, submission_csv: Path, private: Path, *, synthetic: bool = False) -> Report:
    """Grade one submission and place it. Raises GradingError only for what is not the submission's fault.

    Synthetic data are known by the manifest beside the answers; ``synthetic`` says so where there is none.
    """
    facts = competition.facts
    synthetic = synthetic or _is_synthetic(private)
    thresholds = None if synthetic else thresholds_for(facts)
    if not submission_csv.exists() and not submission_csv.is_symlink():
        found: dict[str, Any] = {**_NOTHING, "status": "none", "reason": "there is no submission"}
    else:
        try:
            score = competition.grade(submission_csv, private)
            found = {**award(facts, score, medals=not synthetic), "status": "graded"}
        except InvalidSubmission as error:
            found = {**_NOTHING, "status": "invalid", "reason": str(error)}
    return Report(
        competition_id=facts.id,
        gold_threshold=thresholds.gold if thresholds else None,
        silver_threshold=thresholds.silver if thresholds else None,
        bronze_threshold=thresholds.bronze if thresholds else None,
        median_threshold=thresholds.median if thresholds else None,
        submission_exists=found["status"] != "none",
        valid_submission=found["status"] == "graded",
        is_lower_better=facts.lower_is_better,
        created_at=datetime.now(UTC).isoformat(timespec="seconds"),
        submission_path=str(submission_csv),
        edition=competition.edition,
        synthetic=synthetic,
        plugin=f"{competition.plugin.distribution} {competition.plugin.version}",
        **found,
    )


def _is_synthetic(private: Path) -> bool:
    """Data prepared by us from synthetic data lie in <data>/<id>/synthetic/prepared/private."""
    return private.parent.parent.name == "synthetic"


def grade(competition: Competition, submission_csv: Path, private: Path, *, synthetic: bool = False) -> Report:
    """``report``, with its place on the whole leaderboard if that was fetched; where no thresholds apply, with the
    sample submission's score to compare with."""
    from attrs import evolve

    from mlecore.errors import MlecoreError
    from mlecore.submissions.sample import open_sample

    made = report(competition, submission_csv, private, synthetic=synthetic)
    if made.median_threshold is not None:
        return _placed(made, competition.facts, private)
    try:
        with open_sample(competition.facts, private.with_name("public")) as sample:
            base = competition.grade(sample, private)
    except MlecoreError:  # no sample beside the answers, or one that cannot be graded: then nothing to compare with
        return made
    beats = None if made.exact is None else competition.facts.better(made.exact, base)
    return evolve(made, sample_score=base if math.isfinite(base) else None, beats_sample=beats)


def _placed(made: Report, facts: Facts, private: Path) -> Report:
    from attrs import evolve

    from mlecore.grading.medals import read_leaderboard
    from mlecore.grading.standing import leaderboard_beside, standing

    path = leaderboard_beside(private, facts.folder)
    if made.exact is None or path is None:
        return made
    score = made.exact if made.score is None else made.score
    place = standing(read_leaderboard(path), score, facts.lower_is_better)
    return made if place is None else evolve(made, rank=place.rank, teams=place.teams, percentile=place.percentile)
