"""Agent `command`: any executable or script as an agent, for people who want to try theirs in a minute."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from attrs import asdict
from mle_lib_agents.requirements import packages

from mle_agent_command import mle_bench
from mle_agent_command.files import missing, refuse_script, with_files
from mle_agent_command.parse import words
from mlecore.errors import UsageError
from mlecore.hookspecs import hookimpl
from mlecore.model.agents import Agent, Launch, Network, Recipe, Task
from mlecore.model.options import Option
from mlecore.util.globs import Glob

SECRETS = (
    "ANTHROPIC_API_KEY",
    "AZURE_OPENAI_API_KEY",
    "DEEPSEEK_API_KEY",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "GROQ_API_KEY",
    "HF_TOKEN",
    "MISTRAL_API_KEY",
    "OPENAI_API_KEY",
    "OPENROUTER_API_KEY",
    "TOGETHER_API_KEY",
    "XAI_API_KEY",
)


NETWORKS: Mapping[str, Network] = {"llm": "llm", "open": "open"}


@hookimpl
def agent() -> Agent:
    return Agent(
        summary="any executable or script as an agent",
        options=(
            Option(
                name="argv",
                required=True,
                help="command line, such as 'python my_agent.py', without redirection or variables; local files in it "
                "are copied to the sandbox",
            ),
            Option(
                name="files",
                help="folder (or file) to copy to agent/; default: the files in argv, and the modules that a "
                "Python script among them imports from its folder",
            ),
            Option(
                name="submission",
                default="submission/submission.csv",
                help="where the command leaves its submission, relative to its working folder; may have wildcards",
            ),
            Option(name="pip", help="packages to install: pandas,scikit-learn==1.9.1, or a requirements file"),
            Option(
                name="image", help="ready-made image to run in, unchanged, with the variables of MLE-bench's images"
            ),
            Option(name="network", help="network that the agent needs; default: none", choices=tuple(NETWORKS)),
            Option(name="secrets", help=f"variables to pass to the agent, comma-separated: {', '.join(SECRETS)}"),
        ),
        secrets=SECRETS,
        takes_mcp=True,
    )


@hookimpl
def recipe(options: Mapping[str, str]) -> Recipe:
    argv = words(options["argv"])
    if image := options.get("image"):
        if options.get("pip"):
            raise UsageError(
                "agent command: an image is run as it is, so image and pip do not go together",
                fix="Install the packages in the image, or leave image out.",
            )
        return Recipe(image=image)
    program = argv[0]
    refuse_script(program)
    # A path is copied along or exists in the sandbox; every recipe has Python.
    looked_for = () if "/" in program or program in ("python", "python3") else (program,)
    return Recipe(pip=packages(options.get("pip", ""), "command"), programs=looked_for)


@hookimpl
def launch(task: Task) -> Launch:
    options = task.options
    argv, files = with_files(words(options["argv"]), options.get("files"), Path.cwd(), image="image" in options)
    env = {"COMPETITION_ID": task.competition, "MLECORE_SEED": str(task.seed)}
    if task.model:
        env["MLECORE_MODEL"] = task.model
    if task.endpoint:
        env["MLECORE_ENDPOINT"] = task.endpoint
    if task.mcp:
        env["MLECORE_MCP"] = json.dumps({name: asdict(server) for name, server in task.mcp.items()})
    if "image" in options:
        argv = (*mle_bench.DEFAULTS, *argv)
        env |= mle_bench.variables(task)
    return Launch(
        argv=argv,
        env=env,
        files=files,
        candidates=(_glob(options["submission"]),),
        secrets=secrets(options.get("secrets", "")),
        network=NETWORKS.get(options.get("network", ""), "none"),
        notes=() if "files" in options else missing(files),
    )


def _glob(text: str) -> str:
    """Raises UsageError for what is not a path below the working folder."""
    try:
        return Glob(text).text
    except ValueError as error:
        raise UsageError(f"agent command: submission: {error}", fix="Write it like working/submission.csv.") from None


def secrets(text: str) -> tuple[str, ...]:
    """The names in a list with commas. Raises UsageError for one that was not declared."""
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    for name in names:
        if name not in SECRETS:
            raise UsageError(
                "agent command: the option secrets names a variable that it may not pass on",
                fix=f"Put the key into one of {', '.join(SECRETS)}.",
            )
    return names
