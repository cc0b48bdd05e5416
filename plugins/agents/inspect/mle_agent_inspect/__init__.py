"""Agent `inspect`: an agent of inspect_ai, in the sandbox itself."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from mle_lib_agents import PIP, PROMPT, PROVIDER, launch_program, model, programs, temperature
from mle_lib_agents.requirements import packages
from mle_lib_agents.usage import reported

from mlecore.hookspecs import hookimpl
from mlecore.model.agents import Agent, Launch, Needs, Recipe, Task, Usage
from mlecore.model.options import Option

WORK = Path(__file__).parent / "work"
VERSION = "0.3.285"


@hookimpl
def agent() -> Agent:
    return Agent(
        summary="agents of inspect_ai (PyPI), in the sandbox itself",
        options=(
            Option(name="agent", default="react", help="react, or a registered agent: package/name"),
            PROVIDER,
            temperature(),
            Option(name="messages", type="integer", default="1000", help="maximum number of messages"),
            Option(name="command-timeout", type="integer", help="seconds that a command may take; default: the run's"),
            PROMPT,
            PIP,
        ),
        needs=Needs(network="llm", model=True),
    )


@hookimpl
def recipe(options: Mapping[str, str]) -> Recipe:
    client = {"openai": "openai>=2", "anthropic": "anthropic"}[options["provider"]]
    return Recipe(pip=(f"inspect-ai=={VERSION}", client, *packages(options["pip"], "inspect")))


@hookimpl
def launch(task: Task) -> Launch:
    options = task.options
    settings = {
        "agent": options["agent"],
        "model": f"{options['provider']}/{model(task, 'inspect')}",
        "temperature": float(options["temperature"]) if "temperature" in options else None,
        "messages": int(options["messages"]),
        "command_timeout": int(options.get("command-timeout", task.time_limit)),
        "seed": task.seed,
    }
    return launch_program(
        task, "main.py", {"INSPECT_SETTINGS": json.dumps(settings)}, programs(WORK, "clock.py", "ending.py")
    )


@hookimpl
def usage(logs: Path) -> Usage | None:
    return reported("inspect.jsonl")(logs)
