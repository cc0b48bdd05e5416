"""An agent for the kit: the plugin, its options, and possible tasks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path, PurePosixPath

from attrs import evolve

from mlecore.agents import HOME, Agent, FinishedSubmission, Launch, Recipe, Task
from mlecore.options import resolve
from mlecore.registry.loading import Loaded
from mlecore.sandbox.instructions import instructions

ELSEWHERE = PurePosixPath("/srv/sandboxes/7/tree")  # where the tree is on a machine without mount namespaces
_HARDWARE = "2 CPUs, 8 GiB of memory, no GPU"
_LIMIT = 3600.0


class AgentBench:
    """One agent with the options that the caller gives, else its defaults."""

    def __init__(self, loaded: Loaded, options: Mapping[str, str], folder: Path) -> None:
        self.loaded = loaded
        self.given = options
        self.folder = folder

    @property
    def name(self) -> str:
        return self.loaded.plugin.name

    @cached_property
    def agent(self) -> Agent:
        declared: Agent = self.loaded.call("agent")
        return declared

    @cached_property
    def options(self) -> dict[str, str]:
        return resolve(self.agent.options, self.given, f"agent {self.name}")

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
        table = Task(
            competition="spaceship-titanic",
            title="Spaceship Titanic",
            modality="tabular",
            metric="accuracy",
            direction="maximize",
            instructions=told.text,
            rules=told.rules,
            description="# A table\n\nPredict `y` for each row of test.csv. Submission: `id,y`.\n",
            time_limit=_LIMIT,
            seed=0,
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
