"""Agent `mlab`: MLAgentBench's research agent, rewritten and small; it speaks any of the usual protocols."""

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
CLIENTS = {"chat": "openai>=1.90", "responses": "openai>=1.90", "messages": "anthropic>=0.60"}
NUMBERS = ("steps", "retries", "shown", "remember", "log-shown")


@hookimpl
def agent() -> Agent:
    return Agent(
        summary="MLAgentBench's research agent: plan, thought and one action a step, and a research log",
        options=(
            Option(
                name="protocol",
                default="chat",
                choices=tuple(CLIENTS),
                help="API of the model: Chat Completions, Responses, or Anthropic's Messages",
            ),
            Option(name="fast-model", help="model that summarises steps and reflects; default: the run's model"),
            Option(name="edit-model", help="model that edits scripts and reads files; default: the run's model"),
            temperature("0.5"),
            Option(name="steps", type="integer", default="50", help="maximum number of actions"),
            Option(name="remember", type="integer", default="3", help="number of last steps to show in full"),
            Option(name="log-shown", type="integer", default="20000", help="characters of the research log to show"),
            Option(name="shown", type="integer", default="8000", help="characters of a file or an output to show"),
            Option(name="script-timeout", type="integer", help="seconds that a script may take; default: the run's"),
            Option(name="retries", type="integer", default="8", help="retries per failed call, with growing pauses"),
            PROMPT,
            PIP,
        ),
        needs=Needs(network="llm", model=True),
    )


@hookimpl
def recipe(options: Mapping[str, str]) -> Recipe:
    return Recipe(pip=(CLIENTS[options["protocol"]], *packages(options["pip"], "mlab")))


@hookimpl
def launch(task: Task) -> Launch:
    options, main = task.options, model(task, "mlab")
    fast, editor = options.get("fast-model", main), options.get("edit-model", main)
    settings = {
        "model": main,
        "fast_model": fast,
        "edit_model": editor,
        "protocol": options["protocol"],
        "temperature": float(options["temperature"]),
        **{name.replace("-", "_"): int(options[name]) for name in NUMBERS},
        "script_timeout": int(options.get("script-timeout", task.time_limit)),
    }
    return launch_program(
        task,
        "main.py",
        {"MLAB_SETTINGS": json.dumps(settings)},
        programs(WORK, "clock.py", "commands.py", "ending.py"),
        (fast, editor),
    )


@hookimpl
def usage(logs: Path) -> Usage | None:
    return reported("mlab.jsonl")(logs)
