"""The report of one graded submission: the keys that tools for MLE-bench read, and more."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from attrs import field, frozen

from mlecore.model.data_kind import DataKind
from mlecore.model.facts import Comparability, Reference
from mlecore.util.schema import NOT_IN_FILE, plain, read_newer, structure_newer


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
    threshold_percentiles: Mapping[str, float] | None = None  # of "gold", "silver", "bronze", "median"
    sample_percentile: float | None = None  # of the sample submission; 0 if its score is undefined
    best_human: float | None = None  # the best score on that leaderboard
    reference: Reference | None = None  # scores of agents to compare with, where there is no human leaderboard
    reference_place: Literal["gold", "silver", "bronze", "median"] | None = None  # reached among them; never a medal
    run: str = ""  # uid of the run, where it is one's
    extra: Mapping[str, Any] = field(factory=dict, eq=False, metadata=NOT_IN_FILE)  # what a newer version wrote; kept

    @property
    def medal(self) -> str | None:
        """ "gold", "silver", "bronze" or None."""
        return next((name for name in ("gold", "silver", "bronze") if getattr(self, f"{name}_medal")), None)

    @property
    def reference_words(self) -> str:
        """Such as "reference gold"; empty without reference scores, or without a score."""
        if self.reference is None or self.score_text is None:
            return ""
        above = {"median": "above the reference median", None: "not above the reference median"}
        return above.get(self.reference_place) or f"reference {self.reference_place}"

    @property
    def exact(self) -> float | None:
        """The unrounded score, None if there is none."""
        return None if self.score_text is None else float(self.score_text)

    def to_json(self) -> dict[str, Any]:
        """A dictionary that json.dumps takes without NaN or infinities: JSON has no number for them."""
        values = plain(self).items()
        return {k: None if isinstance(value, float) and not math.isfinite(value) else value for k, value in values}

    @classmethod
    def from_json(cls, values: object) -> Report:
        """The inverse; keys that a newer version wrote are kept. Raises SchemaError."""
        return structure_newer(cls, values)


def read_report(path: Path, *, below: Path | None = None) -> Report:
    """The report in a grade.json; no link is followed from the folder ``below`` on. Raises SchemaError that names the
    file, OSError."""
    return read_newer(Report, path, below=below)
