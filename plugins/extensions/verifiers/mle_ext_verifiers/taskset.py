"""Exported competitions as tasks of verifiers, graded on the trainer's machine."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import verifiers.v1 as vf
from mle_ext_harbor.reward import metrics

from mle_ext_verifiers import grading
from mle_ext_verifiers.collecting import SUBMISSION, collect
from mle_ext_verifiers.folders import CompetitionData, read_folders
from mlecore.controller.experiment import Inputs
from mlecore.errors import MlecoreError
from mlecore.model.report import Report
from mlecore.util.scratch import scratch

_COLLECTING = 600  # seconds; an agent can make its box answer slowly, or never


class TasksConfig(vf.TasksetConfig):
    path: Path = Path("tasks")
    """Folder that `mlecore export harbor --out` wrote."""


class CompetitionTask(vf.Task[CompetitionData]):
    NEEDS_CONTAINER = True

    @property
    def key(self) -> str:
        return str(self.data.name)

    @vf.reward
    async def grade(self, trace: vf.Trace, runtime: vf.Runtime) -> float:
        """The reward; the report and its numbers are recorded beside it."""
        report, reward = await self._graded(await self._inputs(), runtime)
        trace.record_metrics(metrics(report))
        trace.info["report"] = report.to_json()
        return reward

    async def validate(self, runtime: vf.Runtime) -> bool:
        """Write a perfect submission into the box: is its reward 1? `vf-validate` asks that, without a model."""
        inputs = await self._inputs()
        await runtime.write(SUBMISSION, await asyncio.to_thread(grading.perfect, inputs))
        _, reward = await self._graded(inputs, runtime)
        return reward == 1

    async def _inputs(self) -> Inputs:
        return await asyncio.to_thread(_inputs_of, self.data)

    async def _graded(self, inputs: Inputs, runtime: vf.Runtime) -> tuple[Report, float]:
        with scratch() as folder:
            async with asyncio.timeout(_COLLECTING):
                submission = await collect(runtime, inputs.submission_limit, folder)
            return await grading.grade(inputs, submission, self.data.reward)


class CompetitionTaskset(vf.Taskset[CompetitionTask, TasksConfig]):
    def load(self) -> Iterator[CompetitionTask]:
        """The tasks, by name. Ends the program with a message if the folder or the data for grading are missing: the
        commands of verifiers would print a traceback."""
        try:
            tasks = read_folders(self.config.path)
            for data in tasks:
                _inputs_of(data)
        except MlecoreError as error:
            raise SystemExit(f"error: {error}") from None
        for data in tasks:
            yield CompetitionTask(data, self.config.task)


def _inputs_of(data: CompetitionData) -> Inputs:
    return grading.inputs_of(data.competition, data.edition, data.synthetic, data.data_digest)
