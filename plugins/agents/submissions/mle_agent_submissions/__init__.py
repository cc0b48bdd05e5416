"""Agent `submissions`: submits existing CSV files from a folder: output of closed systems, or results to grade."""

from __future__ import annotations

from pathlib import Path

from mlecore.errors import UsageError
from mlecore.hookspecs import hookimpl
from mlecore.model.agents import Agent, FinishedSubmission, Task
from mlecore.model.options import Option

# The ones that tell seeds apart come first, so that a folder may hold one file for most and three for some.
LAYOUTS = (
    "{competition}/{seed}.csv",
    "{seed}/{competition}.csv",
    "{competition}.csv",
    "{competition}/submission.csv",
)


@hookimpl
def agent() -> Agent:
    return Agent(
        summary="hands in finished CSV files from a folder",
        options=(
            Option(name="from", required=True, help=f"folder with the first that exists of {', '.join(LAYOUTS)}"),
        ),
        uses_model=False,
    )


@hookimpl
def launch(task: Task) -> FinishedSubmission:
    folder = Path(task.options["from"]).expanduser()
    if not folder.is_dir():
        raise UsageError(
            f"agent submissions: {folder} is not a folder",
            fix="Name the folder with the CSV files: -A from=DIR",
        )
    return FinishedSubmission(submission=find(folder.resolve(), task.competition, task.seed))


def find(folder: Path, competition: str, seed: int) -> Path | None:
    """The file for one run, or None. Raises UsageError for a link out of the folder.

    Such folders come from other people: a link could name anything on this machine, the answers included.
    """
    for layout in LAYOUTS:
        path = folder / layout.format(competition=competition, seed=seed)
        if not path.is_file():
            continue
        target = path.resolve()
        if not target.is_relative_to(folder):
            raise UsageError(
                f"agent submissions: {path} is a link to a file outside of {folder}",
                fix="Put the file itself there.",
            )
        return target
    return None
