"""Agent `openhands`: OpenHands from its SDK, in the sandbox itself, its conversation continued while time is left."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from mle_lib_agents import PIP, PROMPT, PROVIDER, SESSIONS, launch_program, model, programs, temperature
from mle_lib_agents.requirements import packages
from mle_lib_agents.usage import json_lines, table, total

from mlecore.hookspecs import hookimpl
from mlecore.model.agents import Agent, Launch, Needs, Recipe, Task, Usage
from mlecore.model.options import Option

WORK = Path(__file__).parent / "work"
VERSION = "1.58.0"
# What its tools import, without the browser: that would be a hundred packages more.
TOOLS = ("binaryornot>=0.6", "cachetools>=5", "libtmux>=0.53", "func-timeout>=4.3.5")
# Without these pip, which installs in containers, tries hundreds of versions in turn.
PINNED = (
    *("grpcio==1.85.1", "opentelemetry-api==1.45.1", "opentelemetry-instrumentation-threading==0.66b1"),
    *("opentelemetry-exporter-otlp-proto-grpc==1.45.1", "opentelemetry-exporter-otlp-proto-http==1.45.1"),
)
LOG = "logs/openhands.jsonl"


@hookimpl
def agent() -> Agent:
    return Agent(
        summary="OpenHands (PyPI), in the sandbox itself, continued while time is left",
        options=(
            PROVIDER,
            temperature(),
            Option(name="steps", type="integer", default="500", help="maximum number of actions per session"),
            Option(name="rounds", type="integer", default="100", help="maximum number of sessions"),
            Option(name="retries", type="integer", default="8", help="retries per failed call, with growing pauses"),
            PROMPT,
            PIP,
            Option(name="base", help="container image with Python 3.12 or later", default="python:3.13-slim-trixie"),
        ),
        needs=Needs(network="llm", model=True),
    )


@hookimpl
def recipe(options: Mapping[str, str]) -> Recipe:
    return Recipe(
        base=options["base"],
        python=">=3.12",
        pip=(f"openhands-sdk=={VERSION}", *TOOLS, *PINNED, *packages(options["pip"], "openhands")),
        pip_alone=(f"openhands-tools=={VERSION}",),
    )


@hookimpl
def launch(task: Task) -> Launch:
    options = task.options
    settings = {
        "model": model(task, "openhands"),
        "provider": options["provider"],
        "temperature": float(options["temperature"]) if "temperature" in options else None,
        "retries": int(options["retries"]),
        "steps": int(options["steps"]),
    }
    start = ["python3", "agent/main.py"]
    sessions = {
        "first": start,
        "next": start,
        "state": "logs/openhands",
        "session": "*/base_state.json",
        "log": LOG,
        "rounds": int(options["rounds"]),
    }
    env = {"OPENHANDS_SETTINGS": json.dumps(settings), "SESSIONS": json.dumps(sessions)}
    return launch_program(task, "sessions.py", env, programs(WORK, *SESSIONS))


@hookimpl
def usage(logs: Path) -> Usage | None:
    """From the last line that counts: each has the whole conversation so far."""
    last = None
    for line in json_lines(logs / Path(LOG).name, logs):
        last = table(line["usage"]) if set(line) == {"usage"} else last
    used = () if last is None else [(last.get("model"), last.get("input"), last.get("output"), last.get("cost"))]
    return total(used)
