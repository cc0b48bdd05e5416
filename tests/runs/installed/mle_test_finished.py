"""Agent `finished`: hands in a file."""

from pathlib import Path

from mlecore.agents import Agent, Handin, Task
from mlecore.hookspecs import hookimpl
from mlecore.options import Option


@hookimpl
def agent() -> Agent:
    return Agent(summary="hands in a file", options=(Option(name="file", help="which", required=True),))


@hookimpl
def launch(task: Task) -> Handin:
    file = Path(task.options["file"])
    return Handin(submission=file if file.exists() else None)
