"""How many runs may be active at once, and what a group takes at most."""

from __future__ import annotations

import math
import shutil
import time
from collections.abc import Mapping
from operator import le
from pathlib import Path

from mlecore.controller.context import Context
from mlecore.controller.reporting import explain
from mlecore.model.backends import Capacity
from mlecore.model.plan import Plan
from mlecore.model.record import Limits
from mlecore.util.units import counted, show_duration, show_size

UNBOUNDED = 100  # at once, if the backend schedules by itself and no number is given
WITHOUT_BACKEND = 16  # at once, if agents hand in finished files
_EVERY = 60.0  # seconds between two questions


class Slots:
    """The backend's capacity changes, as others use it too: it is asked again every minute, in the background."""

    def __init__(self, context: Context, *, needed: bool) -> None:
        """``needed``: runs start at the backend."""
        plan = context.experiment.plan
        self.why: dict[str, str] = {}  # label of an agent -> why none of its runs begins
        self._needs = {agent.label: _needs(plan.limits_of(agent)) for agent in plan.agents}
        self._room = (0.0,) * 4 if needed else _room(None, plan.execution.max_parallel or WITHOUT_BACKEND)
        self._context = context
        self._next = 0.0 if needed else math.inf

    def free(self, at_work: Mapping[str, int]) -> set[str]:
        """Labels of agents of which one more run fits. ``at_work``: label -> how many run now."""
        taken = [[count * need for need in self._needs[label]] for label, count in at_work.items()]
        free = [room - sum(each) + 1e-9 for room, *each in zip(self._room, *taken, strict=True)]
        return {label for label, needs in self._needs.items() if all(map(le, needs, free))}

    def update(self) -> None:
        """Ask again, if it is time."""
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + _EVERY
            self._context.tasks.begin(self._measure())

    async def _measure(self) -> None:
        context, plan = self._context, self._context.experiment.plan
        try:
            capacity = await context.tasks.call("poll", context.experiment.backend.capacity)
        except Exception as error:
            self._next = time.monotonic() + context.timing.step_delay
            why = f"backend {plan.backend.name}: {explain(error)}; asking again"
            self.why = dict.fromkeys(self._needs, why)
            context.reporter.say(why, every=300)
            return
        self.why, self._room = {}, _room(capacity, plan.execution.max_parallel)
        for agent in plan.agents:
            most, bound = at_once(capacity, plan.limits_of(agent), plan.execution.max_parallel)
            if not most:
                why = f"no run of {agent.label} fits backend {plan.backend.name} now: {bound}; waiting"
                self.why[agent.label] = why
                context.reporter.say(why, every=600)


def _needs(limits: Limits) -> tuple[float, ...]:
    """What one run takes: a slot, CPUs, bytes of memory, GPUs."""
    return 1.0, limits.cpus or 1.0, limits.memory or 0, limits.gpus


def _room(capacity: Capacity | None, max_parallel: int | None) -> tuple[float, ...]:
    """What all runs together may take, in the same order."""
    if capacity is None:
        return max_parallel or UNBOUNDED, math.inf, math.inf, math.inf
    return max_parallel or math.inf, capacity.cpus, capacity.memory, len(capacity.gpus)


def at_once(capacity: Capacity | None, limits: Limits, max_parallel: int | None) -> tuple[int, str]:
    """How many runs fit, and what limits them, in words. A run without a number of CPUs counts as one CPU."""
    bounds = [(max_parallel, "--max-parallel")] if max_parallel is not None else []
    if capacity is None:
        bounds += [] if bounds else [(UNBOUNDED, "the backend schedules")]
    else:
        cpus = limits.cpus or 1.0
        each = f"{cpus:g} a run" if limits.cpus else "and a run without --cpus counts as one"
        bounds.append((int(capacity.cpus / cpus + 1e-9), f"{capacity.cpus:g} CPUs, {each}"))
        if limits.memory:
            bounds.append((capacity.memory // limits.memory, "memory"))
        if limits.gpus:
            bounds.append((len(capacity.gpus) // limits.gpus, f"{len(capacity.gpus)} GPUs, {limits.gpus} a run"))
    return min(bounds, key=lambda bound: bound[0])


def cost_forecast(plan: Plan, runs: int) -> str:
    """The most that so many runs spend on their models, by the budgets of the plan."""
    from mlecore_gateway.budgets import Budget

    budgets = [Budget.parse(text) for text in plan.gateway.budgets]
    if not budgets:
        return "model calls: no budget (-G budgets=5usd), so their cost has no limit"
    return "model calls: at most " + ", ".join(f"{budget.amount * runs:,.10g} {budget.unit}" for budget in budgets)


def forecast(plan: Plan, capacity: Capacity | None, runs: int, folder: Path) -> str:
    """The most time (rounds of runs x limit) and disk that so many runs take, and how many run at once and why.

    ``folder`` gets their files.
    """
    limits = {agent.label: plan.limits_of(agent) for agent in plan.agents}
    limit, disk = max(each.time for each in limits.values()), plan.limits.disk
    fit = {label: at_once(capacity, each, plan.execution.max_parallel) for label, each in limits.items()}
    label, (most, why) = min(fit.items(), key=lambda found: found[1][0])
    if not most:
        return f"no run of {label} fits backend {plan.backend.name} now: {why}"
    if runs <= most:
        most, why = runs, "all of them"
    time = show_duration(math.ceil(runs / most) * limit)
    free = f"{show_size(shutil.disk_usage(folder).free)} free in {folder}"
    writes = f"up to {show_size(most * disk)} at once, {free}" if disk else f"no limit given (--disk), {free}"
    each = show_duration(limit)
    return f"at most {time}: {counted(runs, 'run')} of up to {each}, {most} at once ({why}); disk: {writes}"
