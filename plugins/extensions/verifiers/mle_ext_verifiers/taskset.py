"""Exported competitions as tasks of verifiers, graded on the trainer's machine."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import verifiers.v1 as vf
from mle_ext_harbor.reward import RewardKind

from mle_ext_verifiers import grading
from mle_ext_verifiers.collecting import SUBMISSION, collect
from mle_ext_verifiers.folders import TaskFolder, read_folders
from mlecore.controller.experiment import Inputs
from mlecore.errors import MlecoreError
from mlecore.model.agents import HOME
from mlecore.util.scratch import scratch

_COLLECTING = 600  # seconds; an agent can make its box answer slowly, or never


class TasksConfig(vf.TasksetConfig):
    path: Path = Path("tasks")
    """Folder that `mlecore export harbor --out` wrote."""


class CompetitionData(vf.TaskData):
    competition: str
    edition: str
    synthetic: bool
    data_digest: str
    reward: RewardKind


class CompetitionTask(vf.Task[CompetitionData]):
    NEEDS_CONTAINER = True

    @property
    def key(self) -> str:
        return str(self.data.name)

    @vf.reward
    async def grade(self, trace: vf.Trace, runtime: vf.Runtime) -> float:
        """The reward; the report and its numbers are recorded beside it."""
        graded = await self._graded(await self._inputs(), runtime)
        trace.record_metrics(graded.metrics)
        trace.info["report"] = graded.report.to_json()
        return graded.reward

    async def validate(self, runtime: vf.Runtime) -> bool:
        """Write a perfect submission into the box: is its reward 1? `vf-validate` asks that, without a model."""
        inputs = await self._inputs()
        await runtime.write(SUBMISSION, await asyncio.to_thread(grading.perfect, inputs))
        return (await self._graded(inputs, runtime)).reward == 1

    async def _inputs(self) -> Inputs:
        data = self.data
        return await asyncio.to_thread(
            grading.inputs_of, data.competition, data.edition, data.synthetic, data.data_digest
        )

    async def _graded(self, inputs: Inputs, runtime: vf.Runtime) -> grading.Graded:
        with scratch() as folder:
            async with asyncio.timeout(_COLLECTING):
                submission = await collect(runtime, inputs.submission_limit, folder)
            return await grading.grade(inputs, submission, self.data.reward)


class CompetitionTaskset(vf.Taskset[CompetitionTask, TasksConfig]):
    def load(self) -> Iterator[CompetitionTask]:
        """The tasks, by name. Ends the program with a message if the folder or the data for grading are missing: the
        commands of verifiers would print a traceback."""
        try:
            folders = read_folders(self.config.path)
            for folder in folders:
                grading.inputs_of(folder.competition, folder.edition, folder.synthetic, folder.digest)
        except MlecoreError as error:
            raise SystemExit(f"error: {error}") from None
        for folder in folders:
            yield CompetitionTask(_data(folder), self.config.task)


def _data(folder: TaskFolder) -> CompetitionData:
    return CompetitionData(
        name=folder.name,
        prompt=folder.prompt,
        image=folder.image,
        workdir=str(HOME),
        network_allow=list(folder.allow),
        timeout=vf.TaskTimeout(agent=folder.seconds),
        resources=vf.TaskResources(
            cpu=folder.cpus, memory=folder.memory_gb, gpu=str(folder.gpus) if folder.gpus else None
        ),
        competition=folder.competition,
        edition=folder.edition,
        synthetic=folder.synthetic,
        data_digest=folder.digest,
        reward=folder.reward,
    )
