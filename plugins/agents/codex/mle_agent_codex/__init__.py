"""Agent `codex`: OpenAI's command-line agent, without a terminal, its session continued while time is left."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from pathlib import Path

from mle_lib_agents import PIP, PROMPT, SESSIONS, WORK, launch_program, model
from mle_lib_agents.requirements import packages
from mle_lib_agents.usage import json_lines, table, total

from mlecore.hookspecs import hookimpl
from mlecore.model.agents import Agent, Launch, Needs, Recipe, Task, Usage
from mlecore.model.options import Option

LOG = "logs/codex.jsonl"
CONFIG = "logs/codex"
VERSION = "0.169.0"


@hookimpl
def agent() -> Agent:
    return Agent(
        summary="OpenAI's Codex (npm), continued while time is left",
        options=(
            Option(name="rounds", type="integer", default="100", help="maximum number of sessions"),
            Option(
                name="web-search",
                default="disabled",
                choices=("disabled", "cached", "live"),
                help="web search by the provider; needs -G server-tools=true",
            ),
            Option(name="reasoning", help="reasoning effort; default: the model's own"),
            Option(name="retries", type="integer", default="8", help="retries per failed call, with growing pauses"),
            Option(name="args", help="additional arguments of codex exec, quoted as for a shell: '-c key=value'"),
            PROMPT,
            PIP,
            Option(name="version", default=VERSION, help="version of the npm package"),
        ),
        needs=Needs(network="llm", model=True),
        takes_mcp=True,
    )


@hookimpl
def recipe(options: Mapping[str, str]) -> Recipe:
    return Recipe(pip=packages(options["pip"], "codex"), npm=(f"@openai/codex@{options['version']}",))


@hookimpl
def launch(task: Task) -> Launch:
    options = task.options
    provider = {
        "name": "gateway",
        "base_url": _with_version(task.endpoint or ""),
        "env_key": "OPENAI_API_KEY",
        "wire_api": "responses",
        "request_max_retries": int(options["retries"]),
        "stream_max_retries": int(options["retries"]),
        "supports_websockets": False,
    }
    config: dict[str, object] = {"model_provider": "gateway", "web_search": options["web-search"]}
    config["background_terminal_max_timeout"] = int(1000 * task.time_limit)  # of one wait for a command
    if "reasoning" in options:
        config["model_reasoning_effort"] = options["reasoning"]
    argv = ["--json", "--dangerously-bypass-approvals-and-sandbox", "--skip-git-repo-check"]
    argv += ["--model", model(task, "codex")]
    for name, value in (
        *config.items(),
        *((f"model_providers.gateway.{key}", value) for key, value in provider.items()),
    ):
        argv += ["-c", f"{name}={json.dumps(value)}"]  # a TOML value, which such JSON is, too
    for name, server in task.mcp.items():
        argv += ["-c", f"mcp_servers.{name}.url={json.dumps(server.url)}"]
        for header, variable in server.headers.items():
            argv += ["-c", f"mcp_servers.{name}.env_http_headers.{header}={json.dumps(variable)}"]
    argv += [*shlex.split(options.get("args", "")), "-"]
    settings = {
        "first": ["codex", "exec", *argv],
        "next": ["codex", "exec", "resume", "--last", *argv],
        "state": CONFIG,
        "session": "sessions/**/*.jsonl",
        "log": LOG,
        "rounds": int(options["rounds"]),
    }
    env = {"SESSIONS": json.dumps(settings), "CODEX_HOME": str(task.home / CONFIG)}
    return launch_program(task, "sessions.py", env, {f"agent/{name}": WORK / name for name in SESSIONS})


def _with_version(endpoint: str) -> str:
    """OpenAI's clients want the version in the base URL."""
    return endpoint if endpoint.rstrip("/").count("/") > 2 else f"{endpoint.rstrip('/')}/v1"


@hookimpl
def usage(logs: Path) -> Usage | None:
    """From the line that ends each turn, which counts its whole session so far."""
    session, last = "", dict[str, Mapping[str, object]]()
    for line in json_lines(logs / Path(LOG).name, logs):
        if line.get("type") == "thread.started":
            session = str(line.get("thread_id"))[:100]
        elif line.get("type") == "turn.completed" and (session in last or len(last) < 10_000):
            last[session] = table(line.get("usage"))
    return total((None, used.get("input_tokens"), used.get("output_tokens"), None) for used in last.values())
