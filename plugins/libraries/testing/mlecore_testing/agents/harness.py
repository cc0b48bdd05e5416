"""An agent for the kit: the plugin, its options, and possible tasks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from attrs import evolve

from mlecore.controller.instructions import instructions
from mlecore.model.agents import HOME, Agent, FinishedSubmission, Launch, Recipe, Task
from mlecore_testing.bench import Bench
from mlecore_testing.tasks import a_task

ELSEWHERE = PurePosixPath("/srv/sandboxes/7/tree")  # where the tree is on a machine without mount namespaces
_HARDWARE = "2 CPUs, 8 GiB of memory, no GPU"
_LIMIT = 3600.0


class AgentBench(Bench):
    """One agent, and possible tasks."""

    @property
    def agent(self) -> Agent:
        agent: Agent = self.declared
        return agent

    def recipe(self) -> Recipe:
        """Nothing, where the plugin has no such hook."""
        if not self.loaded.implements("recipe"):
            return Recipe()
        recipe: Recipe = self.loaded.call("recipe", options=self.options)
        return recipe

    def launch(self, task: Task) -> Launch | FinishedSubmission:
        launch: Launch | FinishedSubmission = self.loaded.call("launch", task=task)
        return launch

    def tasks(self) -> Iterator[Task]:
        """A table problem, a picture problem with another home, a text problem with a model."""
        told = instructions(time_limit=_LIMIT, hardware=_HARDWARE, network=self.agent.needs.network, home=HOME)
        table = a_task(
            title="Spaceship Titanic",
            instructions=told.text,
            rules=told.rules,
            description="# A table\n\nPredict `y` for each row of test.csv. Submission: `id,y`.\n",
            time_limit=_LIMIT,
            hardware=_HARDWARE,
            options=self.options,
            model="some-model" if self.agent.needs.model else None,
            endpoint="http://127.0.0.1:8000/v1" if self.agent.needs.model else None,
        )
        yield table
        yield evolve(table, competition="pictures", modality="image", metric="roc-auc", seed=3, home=ELSEWHERE)
        yield evolve(
            table,
            competition="Texts.v2",
            title='Quotes " and $HOME; `and` lines\n',
            modality="text",
            metric="rmse",
            direction="minimize",
            seed=2**31 - 1,
            model="vendor/model:latest",
            endpoint="http://127.0.0.1:8000/v1",
        )
