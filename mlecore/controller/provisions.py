"""What runs need before they can start: the image of their agent, and their data within reach of the backend."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeVar

from mlecore.controller.context import Context
from mlecore.controller.experiment import Inputs
from mlecore.controller.reporting import explain
from mlecore.errors import BackendUnreachable
from mlecore.model.agents import Recipe
from mlecore.model.backends import Image, Sandbox
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

    def get(self, gone: T | None = None) -> T:
        """Blocks until it is made; made again, once, if it is the one that is ``gone``.

        Raises what making it raises; the next call tries again.
        """
        with self._lock:
            if gone is not None and self._value == [gone]:
                self._value.clear()
            if not self._value:
                self._value.append(self._make())
            return self._value[0]


class Provisions:
    """An image for each recipe and the data of each competition, made in the background when a run first needs them."""

    def __init__(self, context: Context, finished_agents: frozenset[str]) -> None:
        """``finished_agents``: labels of those that hand in finished files, and need none of it."""
        self.sandbox: Provision[Sandbox] = Provision("the sandbox", "asking what it enforces", self._describe)
        self._context = context
        self._finished_agents = finished_agents
        experiment, logs = context.experiment, context.group.folder / "builds"
        by_recipe: dict[str, Provision[Image]] = {}  # agents with one recipe share its image
        self._images: dict[str, Provision[Image]] = {}  # by label
        for label, agent in experiment.agents.items():
            digest = agent.recipe.digest()
            log = logs / f"{digest[:16]}.log"
            doing = f"installing its packages; log: {log}"
            new = Provision(f"agent {label}", doing, partial(self._build, agent.recipe, log))
            self._images[label] = by_recipe.setdefault(digest, new)
        self._data = {
            id: Provision(f"the data of {id}", "making them available at the backend", partial(self._provide, inputs))
            for id, inputs in experiment.inputs.items()
        }

    def image(self, label: str, gone: Image | None = None) -> Image:
        """What the agent of this label starts from, now that ``gone`` was removed. Blocks; for worker threads."""
        return self._images[label].get(gone)

    def data(self, competition: str) -> str:
        """What ``Job.data`` wants. Blocks; for worker threads."""
        return self._data[competition].get()

    def ready(self, label: str, competition: str) -> bool:
        """May a run of this agent on this competition start?"""
        missing = self._context.experiment.missing(label, competition)
        return not missing and all(provision.ready for provision in self._needed(label, competition))

    def request(self, label: str, competition: str) -> str:
        """Begin to make what such a run needs. Returns why it cannot be made, or an empty text."""
        if why := self._context.experiment.missing(label, competition):
            return why
        needed = self._needed(label, competition)
        for provision in needed:
            if not provision.requested:
                provision.requested = True
                self._context.tasks.begin(self._make(provision))
                self._context.tasks.begin(self._report_slow(provision))
        return next((provision.failure for provision in needed if provision.failure), "")

    def reason(self, label: str, competition: str) -> str:
        """What such a run waits for, in words; empty if it may start."""
        if why := self._context.experiment.missing(label, competition):
            return why
        missing = (each for each in self._needed(label, competition) if not each.ready)
        return next((f"{each.name}: {each.trouble or each.doing}" for each in missing), "")

    def _needed(self, label: str, competition: str) -> Sequence[Provision[Any]]:
        return () if label in self._finished_agents else (self._images[label], self._data[competition])

    async def _make(self, provision: Provision[Any]) -> None:
        while True:
            try:
                await self._context.tasks.call("provide", provision.get)
                return
            except (OSError, BackendUnreachable) as error:
                provision.trouble = f"{error}; trying again"
                self._context.reporter.say(f"{provision.name}: {provision.trouble}", every=300)
            except Exception as error:
                provision.failure = f"{provision.name} cannot be made ready: {explain(error)}"
                return
            await self._context.tasks.sleep(self._context.timing.step_delay * 5)

    async def _report_slow(self, provision: Provision[Any]) -> None:
        """Installing what an agent needs may take minutes, in which nothing else happens."""
        await self._context.tasks.sleep(self._context.timing.slow)
        if not provision.ready and not provision.failure:
            self._context.reporter.say(f"{provision.name}: {provision.doing}")

    def _build(self, recipe: Recipe, log: Path) -> Image:
        files.make_folder(log.parent, below=log.parent.parent)
        return self._context.experiment.backend.build(recipe, log)

    def _provide(self, inputs: Inputs) -> str:
        if not inputs.data.public.is_dir():
            raise FileNotFoundError(f"the data of {inputs.facts.id} are not there: {inputs.data.public}")
        inputs.shown.provide(self._context.group.folder)
        return self._context.experiment.backend.stage_data(inputs.shown.dataset, lambda done, total, what: None)

    def _describe(self) -> Sandbox:
        """Records tell of an open network run by run; nobody should learn it from them only."""
        sandbox, wanted = self._context.experiment.backend.describe(), self._context.experiment.plan.limits.network
        if wanted != "open" and sandbox.network.level == "absent":
            why = f" ({sandbox.network.how})" if sandbox.network.how else ""
            words = f"warning: network={wanted} is not enforced here{why}: runs can reach other hosts"
            self._context.reporter.say(words, every=86400.0)
        return sandbox
