"""A grade as a value: of a competition whose sample scores 0.5, its median 0.7, and its medals 0.8, 0.85 and 0.9."""

from __future__ import annotations

from typing import Any

from attrs import evolve

from mlecore.model.report import Report


def report(score: float | None = 0.8, medal: str | None = None, **changes: Any) -> Report:
    """The report of a valid submission, or with ``score=None`` of an invalid one."""
    valid = score is not None
    made = Report(
        competition_id="spaceship-titanic",
        score=score,
        score_text=repr(score) if valid else None,
        gold_threshold=0.9,
        silver_threshold=0.85,
        bronze_threshold=0.8,
        median_threshold=0.7,
        any_medal=medal is not None,
        gold_medal=medal == "gold",
        silver_medal=medal == "silver",
        bronze_medal=medal == "bronze",
        above_median=score is not None and score > 0.7,
        submission_exists=True,
        valid_submission=valid,
        is_lower_better=False,
        created_at="2026-01-01T00:00:00+00:00",
        submission_path="submission.csv",
        status="graded" if valid else "invalid",
        sample_score=0.5,
        beats_sample=None if score is None else score > 0.5,
    )
    return evolve(made, **changes)
