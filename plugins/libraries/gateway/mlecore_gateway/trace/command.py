"""`mlecore runs trace`: a run's model calls as one trajectory. Of the gateway, only this module imports mlecore."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import click

from mlecore.cli.names import RUN
from mlecore.cli.runs._names import one_run
from mlecore.cli.shared import echo, runs_option
from mlecore.errors import DataError, UsageError
from mlecore.util import files
from mlecore.util.regular import open_regular

if TYPE_CHECKING:
    from mlecore.model.record import RunRecord


@click.command("trace")
@click.argument("name", type=RUN, metavar="GROUP/RUN")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="File to write.")
@runs_option
def command(name: str, out: Path | None, runs: Path) -> None:
    """Write the conversation between a run's agent and its model, in ATIF.

    ATIF is Harbor's Agent Trajectory Interchange Format: JSON with a step for each message and answer, tool calls with
    their results, and tokens and cost by step. The trace is made from the gateway's transcripts, so the run needs
    -G transcripts=true. Without --out, it is printed. Exit code 3 if a part is missing; the trace says which.
    """
    from mlecore.runs.secrets import search
    from mlecore_gateway.trace.document import write_trace
    from mlecore_jobs.fetching import GATEWAY_LOG, TRANSCRIPTS

    record = one_run(runs, name)
    notes: list[str] = []
    for path in (GATEWAY_LOG, TRANSCRIPTS):
        try:
            descriptor = open_regular(record.folder / path, below=record.folder.parent)
        except (OSError, DataError):
            raise UsageError(
                f"{name} has no {path}, from which the trace is made",
                fix="Run the agent with a model and -G transcripts=true.",
            ) from None
        if path == GATEWAY_LOG:
            os.close(descriptor)
    secrets, _ = search(record.folder, record.secrets)
    with os.fdopen(descriptor, "rb") as transcripts:
        base = urlsplit(record.endpoint or "").path.rstrip("/")
        pieces = write_trace(transcripts, record.folder / GATEWAY_LOG, base, _head(record), notes)
        _write(secrets.masked(pieces), out)
    for note in notes:
        echo(f"warning: {note}", err=True)
    if notes:
        raise click.exceptions.Exit(3)


def _head(record: RunRecord) -> dict[str, Any]:
    """The run's facts in the trace."""
    facts = {
        "group": record.group,
        "competition": record.competition,
        "seed": record.seed,
        "state": record.state,
        "ended": record.ended,
        "reported_outcome": str(record.outcome) if record.outcome else None,
    }
    agent = {"name": record.label, "version": record.agent.version or "unknown", "extra": {"plugin": record.agent.name}}
    return {
        "session_id": record.uid,
        "agent": agent | ({"model_name": record.model} if record.model else {}),
        "extra": {name: value for name, value in facts.items() if value is not None},
    }


def _write(pieces: Iterable[bytes], out: Path | None) -> None:
    """To a file, which has its name once it is complete, or to standard output."""
    if out is None:
        for piece in pieces:
            sys.stdout.buffer.write(piece)
        sys.stdout.buffer.flush()
        return
    with files.output(out) as new, new.open("wb") as file:
        file.writelines(pieces)
