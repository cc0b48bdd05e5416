"""Grading on this machine, after the sample has ended, with mlecore's grader and its answers."""

from __future__ import annotations

import asyncio
import math
import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from inspect_ai.scorer import Metric, Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import TaskState
from inspect_ai.util import concurrency, sandbox
from mle_ext_report.position import position

from mle_ext_inspect.collecting import SUBMISSION, collect, unpack
from mle_ext_inspect.setting import Setting
from mlecore.model.data_kind import no_medals
from mlecore.model.report import Report

if TYPE_CHECKING:
    from mlecore.grading.isolated import IsolatedGrader

_RATES = ("valid", "medal", "gold", "above_median", "beats_sample", "position")
_CLUSTERED = stderr(cluster="competition")  # seeds of one competition are no independent samples of the benchmark

BENCHMARK: dict[str, list[Metric]] = {name: [mean(), _CLUSTERED] for name in _RATES}
"""Metrics for several competitions, whose scores have no common mean."""

SCORE: dict[str, list[Metric]] = {name: [mean(), stderr()] for name in ("score", *_RATES)}
"""Metrics for one competition, with its seeds as samples."""


@scorer(metrics=BENCHMARK)
def grade() -> Scorer:
    """The submission's report as values that inspect can average, and in full in the metadata."""

    async def score(state: TaskState, target: Target) -> Score:
        setting = Setting.from_json(state.metadata["setting"])
        archive = Path(setting.outputs) / f"{state.uuid}.tar"
        await collect(sandbox(), archive)
        async with concurrency("mlecore grading", os.cpu_count() or 1):
            report = await asyncio.to_thread(_grade, archive, setting, state.metadata["competition"])
        return Score(
            value=values(report),
            answer=SUBMISSION if report.submission_exists else None,
            explanation=explanation(report),
            metadata={"report": report.to_json(), "outputs": str(archive)},
        )

    return score


def explanation(report: Report) -> str:
    """The verdict in words, for the log's reader."""
    if not report.valid_submission:
        return f"Invalid submission: {report.reason}" if report.submission_exists else "No submission"
    said = f"Score {report.score_text}, {'lower' if report.is_lower_better else 'higher'} is better"
    if report.sample_score is not None:
        said += f"; the sample submission scores {report.sample_score:.6g}"
    if report.gold_threshold is None:
        said += f"; {report.reference_words}" if report.reference_words else ""
        return f"{said}. No medals: {no_medals(report.data_kind, report.comparability)}"
    thresholds = ", ".join(
        f"{name} {getattr(report, f'{name}_threshold'):.6g}" for name in ("gold", "silver", "bronze", "median")
    )
    return f"{said}. {(report.medal or 'no').capitalize()} medal ({thresholds})"


def values(report: Report) -> dict[str, float]:
    """NaN, which inspect leaves out of its means, for what the data cannot say: no medals on synthetic data."""
    ranked, place = report.gold_threshold is not None, position(report)
    exact, beats = report.exact, report.beats_sample
    return {
        "score": math.nan if exact is None else exact,
        "valid": float(report.valid_submission),
        "medal": float(report.any_medal) if ranked else math.nan,
        "gold": float(report.gold_medal) if ranked else math.nan,
        "above_median": float(report.above_median) if ranked else math.nan,
        "beats_sample": float(bool(beats)) if beats is not None or not report.valid_submission else math.nan,
        "position": math.nan if place is None else place,
    }


@cache
def _grader() -> IsolatedGrader:
    """One for all samples: its workers have imported what grading needs, and end with this process."""
    from mlecore.grading.isolated import IsolatedGrader

    return IsolatedGrader()


def _grade(archive: Path, setting: Setting, competition: str) -> Report:
    from mlecore.util.scratch import scratch

    with scratch() as folder:
        unpack(archive, folder, SUBMISSION)
        submission = folder / SUBMISSION
        inputs = setting.inputs(competition)
        return _grader().grade(inputs.competition, submission if submission.exists() else None, inputs.data)
