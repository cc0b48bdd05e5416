"""Grading on this machine, with its answers: no box ever holds any."""

from __future__ import annotations

import asyncio
import os
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

from attrs import evolve
from mle_ext_harbor.reward import RewardKind, best_score, reward

from mlecore.controller.experiment import Inputs, read_inputs
from mlecore.errors import DataError
from mlecore.grading.isolated import IsolatedGrader
from mlecore.model.plan import Plan, PlannedData
from mlecore.model.report import Report
from mlecore_toolkit.submissions.frames import as_file


@cache
def inputs_of(competition: str, edition: str, synthetic: bool, digest: str) -> Inputs:
    """The competition and its data, which must be those that the task was exported from. Raises MlecoreError."""
    plan = Plan(data=PlannedData(edition=edition, synthetic=synthetic))
    inputs = read_inputs(competition, plan, (), lambda text: None)
    inputs.data.require_answers()
    if inputs.data.digest != digest:
        raise DataError(
            f"the data of {competition} in {inputs.data.root} are not those that the task was exported from",
            fix="Export the task again, or name the data directory that it was exported from: export MLECORE_DATA=DIR",
        )
    return inputs


def perfect(inputs: Inputs) -> bytes:
    """The file of a perfect submission."""
    with as_file(inputs.competition.perfect(inputs.data.private)) as path:
        return path.read_bytes()


async def grade(inputs: Inputs, submission: Path | None, kind: RewardKind) -> tuple[Report, float]:
    """The report and the reward. Grades in a worker process, as many at once as there are CPUs. Raises GradingError
    for what is not the submission's fault."""
    return await asyncio.get_running_loop().run_in_executor(_threads(), _grade, inputs, submission, kind)


def _grade(inputs: Inputs, submission: Path | None, kind: RewardKind) -> tuple[Report, float]:
    report = _grader().grade(inputs.competition, submission, inputs.data, inputs.use)
    report = evolve(report, submission_path="")
    best = None
    if report.gold_threshold is None and kind != "medal":
        data = inputs.data
        best = _best(data.competition, data.edition, data.synthetic, data.digest)
    return report, reward(report, kind, best)


@cache
def _best(competition: str, edition: str, synthetic: bool, digest: str) -> float | None:
    inputs = inputs_of(competition, edition, synthetic, digest)
    return best_score(inputs.competition, inputs.data)


@cache
def _grader() -> IsolatedGrader:
    """Its workers have imported what grading needs, and end with this process."""
    return IsolatedGrader()


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(os.cpu_count(), "mlecore-grading")
