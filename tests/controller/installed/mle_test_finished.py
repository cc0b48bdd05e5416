"""Agent `finished`: hands in a file."""

from pathlib import Path

from mlecore.hookspecs import hookimpl
from mlecore.model.agents import Agent, FinishedSubmission, Task
from mlecore.model.options import Option


@hookimpl
def agent() -> Agent:
    return Agent(summary="hands in a file", options=(Option(name="file", help="which", required=True),))


@hookimpl
def launch(task: Task) -> FinishedSubmission:
    file = Path(task.options["file"])
    return FinishedSubmission(submission=file if file.exists() else None)
