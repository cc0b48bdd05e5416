"""What runs need before they can start: the image of their agent, and their data within reach of the backend."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeVar

from mlecore.controller.experiment import Experiment, Inputs
from mlecore.controller.reporting import Reporter, explain
from mlecore.controller.tasks import Tasks
from mlecore.controller.timing import Timing
from mlecore.errors import BackendUnreachable
from mlecore.model.agents import Recipe
from mlecore.model.backends import Image
from mlecore.util import files

T = TypeVar("T")


class Provision(Generic[T]):
    """Something that is made once, however many wait for it. ``get`` may be called from any thread."""

    def __init__(self, name: str, doing: str, make: Callable[[], T]) -> None:
        self.name = name
        self.doing = doing
        self.requested = False
        self.failure = ""  # why it cannot be made
        self.trouble = ""  # why the last try failed; the next one follows
        self._make = make
        self._value: list[T] = []
        self._lock = threading.Lock()

    @property
    def ready(self) -> bool:
        return bool(self._value)

    def get(self) -> T:
        """Blocks until it is made. Raises what making it raises; the next call tries again."""
        with self._lock:
            if not self._value:
                self._value.append(self._make())
            return self._value[0]

    def remake(self, gone: T) -> T:
        """Makes it again because ``gone`` was removed; once, however many callers notice."""
        with self._lock:
            if self._value == [gone]:
                self._value.clear()
        return self.get()


class Provisions:
    """An image for each recipe and the data of each competition, made in the background when a run first needs them."""

    def __init__(
        self,
        experiment: Experiment,
        logs: Path,
        tasks: Tasks,
        reporter: Reporter,
        timing: Timing,
        finished_agents: frozenset[str] = frozenset(),
    ) -> None:
        self._experiment = experiment
        self._logs = logs
        self._tasks = tasks
        self._reporter = reporter
        self._timing = timing
        self._finished_agents = finished_agents  # labels of those that hand in finished files, and need none of it
        self._images = self._by_label()
        self._data = {
            id: Provision(f"the data of {id}", "making them available at the backend", partial(self._provide, inputs))
            for id, inputs in experiment.inputs.items()
        }

    def _by_label(self) -> dict[str, Provision[Image]]:
        """Agents with one recipe share its image."""
        by_recipe: dict[str, Provision[Image]] = {}
        for label, agent in self._experiment.agents.items():
            digest = agent.recipe.digest()
            log = self._logs / f"{digest[:16]}.log"
            doing = f"installing its packages; log: {log}"
            by_recipe.setdefault(digest, Provision(f"agent {label}", doing, partial(self._build, agent.recipe, log)))
        return {label: by_recipe[agent.recipe.digest()] for label, agent in self._experiment.agents.items()}

    def image(self, label: str) -> Image:
        """What the agent of this label starts from. Blocks; for worker threads."""
        return self._images[label].get()

    def rebuild(self, label: str, gone: Image) -> Image:
        """What the agent of this label starts from, now that ``gone`` was removed. Blocks; for worker threads."""
        return self._images[label].remake(gone)

    def data(self, competition: str) -> str:
        """What ``Job.data`` wants. Blocks; for worker threads."""
        return self._data[competition].get()

    def ready(self, label: str, competition: str) -> bool:
        """May a run of this agent on this competition start?"""
        missing = self._experiment.missing(label, competition)
        return not missing and all(provision.ready for provision in self._needed(label, competition))

    def request(self, label: str, competition: str) -> str:
        """Begin to make what such a run needs. Returns why it cannot be made, or an empty text."""
        if why := self._experiment.missing(label, competition):
            return why
        needed = self._needed(label, competition)
        for provision in needed:
            if not provision.requested:
                provision.requested = True
                self._tasks.begin(self._make(provision))
                self._tasks.begin(self._report_slow(provision))
        return next((provision.failure for provision in needed if provision.failure), "")

    def reason(self, label: str, competition: str) -> str:
        """What such a run waits for, in words; empty if it may start."""
        if why := self._experiment.missing(label, competition):
            return why
        missing = (each for each in self._needed(label, competition) if not each.ready)
        return next((f"{each.name}: {each.trouble or each.doing}" for each in missing), "")

    def _needed(self, label: str, competition: str) -> tuple[Provision[Image], Provision[str]] | tuple[()]:
        return () if label in self._finished_agents else (self._images[label], self._data[competition])

    async def _make(self, provision: Provision[Any]) -> None:
        while True:
            try:
                await self._tasks.call("provide", provision.get)
                return
            except (OSError, BackendUnreachable) as error:
                provision.trouble = f"{error}; trying again"
                self._reporter.say(f"{provision.name}: {provision.trouble}", every=300)
            except Exception as error:
                provision.failure = f"{provision.name} cannot be made ready: {explain(error)}"
                return
            await self._tasks.sleep(self._timing.step_delay * 5)

    async def _report_slow(self, provision: Provision[Any]) -> None:
        """Installing what an agent needs may take minutes, in which nothing else happens."""
        await self._tasks.sleep(self._timing.slow)
        if not provision.ready and not provision.failure:
            self._reporter.say(f"{provision.name}: {provision.doing}")

    def _build(self, recipe: Recipe, log: Path) -> Image:
        files.make_folder(self._logs, below=self._logs.parent)
        return self._experiment.backend.build(recipe, log)

    def _provide(self, inputs: Inputs) -> str:
        if not inputs.data.public.is_dir():
            raise FileNotFoundError(f"the data of {inputs.facts.id} are not there: {inputs.data.public}")
        inputs.shown.provide(self._logs.parent)
        return self._experiment.backend.stage_data(inputs.shown.dataset, lambda done, total, what: None)
