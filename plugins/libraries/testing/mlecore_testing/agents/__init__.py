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
    Rule("recipe", "its recipe is well-formed and stable", recipe, needs=("declares",)),
    Rule("launch", "it says what to start, for any task", launch, needs=("declares",)),
    Rule("pure", "launch and recipe start nothing and write nothing", pure, needs=("launch", "recipe")),
    Rule("home", "it works under any home folder", home, needs=("launch",)),
    Rule("keys", "keys are passed by name, never by value", keys, needs=("launch",)),
    Rule("usage", "it reads hostile logs safely", usage, needs=("declares",)),
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
