"""The kit for agents."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

from mlecore.plugins.loading import load
from mlecore_testing.agents.declares import recipe
from mlecore_testing.agents.harness import AgentBench
from mlecore_testing.agents.launches import home, keys, launch, pure
from mlecore_testing.agents.usage import usage
from mlecore_testing.bench import DECLARES, LIGHT
from mlecore_testing.rules import Rule, Skipped, apply_rules

RULES: tuple[Rule[AgentBench], ...] = (
    LIGHT,
    DECLARES,
    Rule(name="recipe", says="its recipe is well-formed and stable", test=recipe, needs=("declares",)),
    Rule(name="launch", says="it says what to start, for any task", test=launch, needs=("declares",)),
    Rule(name="pure", says="launch and recipe start nothing and write nothing", test=pure, needs=("launch", "recipe")),
    Rule(name="home", says="it works under any home folder", test=home, needs=("launch",)),
    Rule(name="keys", says="keys are passed by name, never by value", test=keys, needs=("launch",)),
    Rule(name="usage", says="it reads hostile logs safely", test=usage, needs=("declares",)),
)


def check_agent(name: str, options: Mapping[str, str] | None = None) -> list[Skipped]:
    """Check an installed agent against all rules; ``options`` are those that ``-A`` would give.

    Nothing is started. Raises ConformanceError with every rule that is broken; returns the rules that could not be
    tried here, with the reason.
    """
    __tracebackhide__ = True
    loaded = load("agent", name)
    with tempfile.TemporaryDirectory(prefix="mlecore-kit-") as folder:
        return apply_rules(f"agent {name}", AgentBench(loaded, options or {}, Path(folder)), RULES)
