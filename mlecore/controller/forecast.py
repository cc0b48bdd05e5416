"""What a group will take at most: said before it starts."""

from __future__ import annotations

import math
import shutil
from pathlib import Path

from mlecore.backends import Capacity
from mlecore.controller.capacity import at_once
from mlecore.runs.plan import Plan
from mlecore.units import counted, show_duration, show_size


def forecast(plan: Plan, capacity: Capacity | None, runs: int, folder: Path) -> str:
    """Time (rounds of runs x limit) and disk for so many runs, and how many run at once and why. ``folder`` gets what
    they leave."""
    limit, disk = plan.limits.time, plan.limits.disk
    most, why = at_once(capacity, plan.limits, plan.execution.max_parallel)
    if not most:
        return f"no run fits backend {plan.backend.name} now: {why}"
    if runs <= most:
        most, why = runs, "all of them"
    time = show_duration(math.ceil(runs / most) * limit)
    free = f"{show_size(shutil.disk_usage(folder).free)} free in {folder}"
    writes = f"up to {show_size(most * disk)} at once, {free}" if disk else f"no limit (--disk), {free}"
    each = show_duration(limit)
    return f"at most {time}: {counted(runs, 'run')} of up to {each}, {most} at once ({why}); disk: {writes}"
