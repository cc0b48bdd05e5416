"""Agent `react`: the simplest loop that works, to read, to compare with, and to start an agent from."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from mle_lib_agents import PIP, PROMPT, launch_program, model, programs, temperature
from mle_lib_agents.requirements import packages
from mle_lib_agents.usage import reported

from mlecore.hookspecs import hookimpl
from mlecore.model.agents import Agent, Launch, Needs, Recipe, Task, Usage
from mlecore.model.options import Option

WORK = Path(__file__).parent / "work"
NUMBERS = ("steps", "context", "output", "retries")


@hookimpl
def agent() -> Agent:
    return Agent(
        summary="a model with a shell and a submit tool, in one short loop",
        options=(
            Option(name="steps", type="integer", default="500", help="maximum number of model calls"),
            temperature(),
            Option(name="context", type="integer", default="100000", help="tokens of the conversation to keep"),
            Option(name="command-timeout", type="integer", help="seconds that a command may take; default: the run's"),
            Option(name="output", type="integer", default="8000", help="bytes of a command's output to show"),
            Option(name="retries", type="integer", default="8", help="retries per failed call, with growing pauses"),
            Option(name="system", help="replaces the system prompt"),
            PROMPT,
            PIP,
        ),
        needs=Needs(network="llm", model=True),
    )


@hookimpl
def recipe(options: Mapping[str, str]) -> Recipe:
    return Recipe(pip=("openai>=1.90", *packages(options["pip"], "react")))


@hookimpl
def launch(task: Task) -> Launch:
    options = task.options
    settings = {
        "model": model(task, "react"),
        "temperature": float(options["temperature"]) if "temperature" in options else None,
        "system": options.get("system"),
        **{name: int(options[name]) for name in NUMBERS},
        "command_timeout": int(options.get("command-timeout", task.time_limit)),
    }
    return launch_program(
        task,
        "main.py",
        {"REACT_SETTINGS": json.dumps(settings)},
        programs(WORK, "clock.py", "commands.py", "ending.py"),
    )


@hookimpl
def usage(logs: Path) -> Usage | None:
    return reported("react.jsonl")(logs)
