"""Agent `claude-code`: Anthropic's command-line agent, without a terminal, its session continued while time is left."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path

from mle_lib_agents import PIP, PROMPT, SESSIONS, WORK, launch_program, model
from mle_lib_agents.requirements import packages
from mle_lib_agents.usage import json_lines, table, total

from mlecore.hookspecs import hookimpl
from mlecore.model.agents import Agent, Launch, McpServer, Needs, Recipe, Task, Usage
from mlecore.model.options import Option

LOG = "logs/claude-code.jsonl"
CONFIG = "logs/claude"
# Later ones want a newer Node.js than Debian's.
VERSION = "2.1.197"


@hookimpl
def agent() -> Agent:
    return Agent(
        summary="Anthropic's Claude Code (npm), continued while time is left",
        options=(
            Option(name="steps", type="integer", help="maximum turns per session; default: no limit"),
            Option(name="rounds", type="integer", default="100", help="maximum number of sessions"),
            Option(
                name="disallowed-tools",
                default="WebSearch,WebFetch",
                help="tools that the agent may not use; WebSearch runs at the provider and needs -G server-tools=true",
            ),
            Option(name="small-model", help="model for its background tasks; default: the run's model"),
            Option(name="args", help="additional arguments of claude, quoted as for a shell"),
            PROMPT,
            PIP,
            Option(name="version", default=VERSION, help="version of the npm package"),
        ),
        needs=Needs(network="llm", model=True),
        takes_mcp=True,
    )


@hookimpl
def recipe(options: Mapping[str, str]) -> Recipe:
    return Recipe(pip=packages(options["pip"], "claude-code"), npm=(f"@anthropic-ai/claude-code@{options['version']}",))


@hookimpl
def launch(task: Task) -> Launch:
    options, main = task.options, model(task, "claude-code")
    small = options.get("small-model", main)
    argv = ["claude", "--print", "--output-format", "stream-json", "--verbose", "--model", main]
    argv += ["--input-format", "stream-json"]
    argv += ["--permission-mode", "bypassPermissions"]
    if options["disallowed-tools"]:
        argv += ["--disallowedTools", options["disallowed-tools"]]
    if task.mcp:
        argv += ["--strict-mcp-config", "--mcp-config", json.dumps({"mcpServers": _mcp_servers(task.mcp)})]
    if "steps" in options:
        argv += ["--max-turns", options["steps"]]
    argv += shlex.split(options.get("args", ""))
    settings = {
        "first": argv,
        "next": [*argv, "--continue"],
        "state": CONFIG,
        "session": "projects/*/*.jsonl",
        "log": LOG,
        "rounds": int(options["rounds"]),
        "streams": True,
        "background": "A command in the background goes on when you end your turn, and you are told when it has ended.",
    }
    longest = str(min(int(1000 * task.time_limit), 2**31 - 1))  # milliseconds, as Node.js counts
    env = {
        "SESSIONS": json.dumps(settings),
        "CLAUDE_CONFIG_DIR": str(task.home / CONFIG),
        "ANTHROPIC_DEFAULT_HAIKU_MODEL": small,
        "CLAUDE_CODE_SUBAGENT_MODEL": main,
        "BASH_DEFAULT_TIMEOUT_MS": longest,
        "BASH_MAX_TIMEOUT_MS": longest,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "IS_SANDBOX": "1",  # else it refuses to work without asking where it believes to be root
    }
    return launch_program(task, "sessions.py", env, {f"agent/{name}": WORK / name for name in SESSIONS}, (small,))


def _mcp_servers(servers: Mapping[str, McpServer]) -> dict[str, object]:
    """As its configuration has them; it puts in the values of variables itself."""
    return {
        name: {
            "type": "http",
            "url": server.url,
            "headers": {header: f"${{{variable}}}" for header, variable in server.headers.items()},
        }
        for name, server in servers.items()
    }


@hookimpl
def usage(logs: Path) -> Usage | None:
    """From the line that ends each session."""
    return total(_sessions(logs))


def _sessions(logs: Path) -> Iterator[tuple[object, object, object, object]]:
    for line in json_lines(logs / Path(LOG).name, logs):
        if line.get("type") != "result":
            continue
        for name, used in table(line.get("modelUsage")).items():
            counts = [table(used).get(f"{kind}InputTokens") for kind in ("cacheRead", "cacheCreation")]
            given = [table(used).get("inputTokens"), *counts]
            tokens = sum(count for count in given if type(count) is int and count > 0)
            yield name, tokens, table(used).get("outputTokens"), table(used).get("costUSD")
