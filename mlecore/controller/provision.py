"""What runs need before they can start: their agent built, their data within reach of the place."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from mlecore.errors import BackendUnreachable

if TYPE_CHECKING:
    from mlecore.controller.loop import Controller

Key = tuple[str, str]  # ("agent", label) or ("data", competition)


class Provision:
    """Has each agent built and each dataset provided once, apart from the runs that wait for them."""

    def __init__(self, controller: Controller, finished: frozenset[str]) -> None:
        self._controller = controller
        self._state: dict[Key, str] = {}  # pending, ready, blocked
        self.finished = finished  # labels of agents that hand in finished files, and need none of it

    def ready(self, label: str, competition: str) -> bool:
        """May a run of this agent on this competition start?"""
        if label in self.finished:
            return True
        return self._state.get(("agent", label)) == self._state.get(("data", competition)) == "ready"

    def ask(self) -> None:
        """Begin with what runs wait for and nobody has begun with."""
        for label, competition in self._controller.backlog.wanted():
            for key in () if label in self.finished else (("agent", label), ("data", competition)):
                if key not in self._state:
                    self._state[key] = "pending"
                    self._begin(key)
                elif self._state[key] == "blocked":
                    self._block(key, "as before")

    def _begin(self, key: Key) -> None:
        controller, (what, name) = self._controller, key
        step: Callable[[], Any]
        if what == "agent":
            step = partial(controller.steps.build, controller.experiment.agents[name])
        else:
            step = partial(controller.steps.provide, controller.experiment.inputs[name])
        controller.providers.submit(step, partial(self._done, key))
        controller.later(controller.timing.quiet, partial(self._slow, key))

    def _slow(self, key: Key) -> None:
        """Installing what an agent needs takes minutes at times, in which nothing else may happen."""
        controller, (what, name) = self._controller, key
        if self._state[key] == "pending":
            where = f"; its log: {controller.group.folder / 'builds'}" if what == "agent" else ""
            doing = "installing what it needs" if what == "agent" else "bringing them within reach of the place"
            controller.say(f"{what} {name}: {doing}{where}", every=300)

    def _done(self, key: Key, result: Any, error: BaseException | None) -> None:
        from mlecore.controller.state import Interrupted

        controller, (what, name) = self._controller, key
        if error is None:
            self._state[key] = "ready"
        elif isinstance(error, (OSError, BackendUnreachable)):
            controller.say(f"{what} {name}: {error}; trying again", every=300)
            controller.later(controller.timing.step_first * 5, partial(self._begin, key))
        elif isinstance(error, Exception) and not isinstance(error, Interrupted):
            self._state[key] = "blocked"
            self._block(key, str(error))
        elif not isinstance(error, Exception):
            raise error

    def _block(self, key: Key, why: str) -> None:
        """Runs that cannot start stay planned: once the cause is mended, resuming goes on with them."""
        controller, (what, name) = self._controller, key
        count = controller.backlog.drop(name if what == "agent" else None, name if what == "data" else None)
        if count:
            words = f"{count} runs cannot start, as {what} {name} cannot be made ready: {why}"
            controller.say(words)
            controller.journal.note("blocked", why=words)
            controller.outcome.left.append(words)
