"""Rule: usage reads any logs; it neither fails, nor hangs, nor returns nonsense."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

from mlecore.errors import MlecoreError
from mlecore_testing.agents.harness import AgentBench
from mlecore_testing.hostile import TookTooLong, fill, in_time
from mlecore_testing.rules import Broken, Undecided

_SECONDS = 120.0


def usage(harness: AgentBench) -> Iterator[Broken]:
    if not harness.loaded.implements("usage"):
        raise Undecided("it has no hook usage")
    hostile = harness.folder / "hostile-logs"
    (hostile / "deeper").mkdir(parents=True)
    fill(hostile)
    fill(hostile / "deeper")
    empty = harness.folder / "empty-logs"
    empty.mkdir()
    for what, logs in (("an empty folder", empty), ("no folder", empty / "none"), ("hostile logs", hostile)):
        yield from (Broken(flaw, what) for flaw in _flaws(harness, logs))


def _flaws(harness: AgentBench, logs: Path) -> Iterator[str]:
    try:
        found = in_time(lambda: harness.loaded.call("usage", logs=logs), _SECONDS)
    except (MlecoreError, TookTooLong, RecursionError) as error:
        yield f"{type(error).__name__}: {error}"
        return
    if found is None:
        return
    for name in ("input_tokens", "output_tokens"):
        count = getattr(found, name)
        if count is not None and count < 0:
            yield f"{name} = {count!r}: expected a number of tokens, or None"
    cost = found.cost_usd
    if cost is not None and (not math.isfinite(cost) or cost < 0):
        yield f"cost_usd = {cost!r}: expected dollars, or None"
    if not all(model.isprintable() for model in found.models):
        yield f"models = {found.models!r}: expected names that can be printed"
