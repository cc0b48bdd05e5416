"""`mlecore runs`: one file per command next to this one, imported when it is used."""

from __future__ import annotations

import importlib
import keyword

import click

_COMMANDS = (
    "list",
    "show",
    "watch",
    "logs",
    "trace",
    "resume",
    "grade",
    "retry",
    "cancel",
    "export",
    "verify",
    "import",
    "adopt",
)


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*_COMMANDS]  # not list(): once imported, this module's `list` is the command

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in _COMMANDS:
            return None
        module = f"{name}_" if keyword.iskeyword(name) else name
        command: click.Command = importlib.import_module(f"mlecore.cli.runs.{module}").command
        return command


@click.group("runs", cls=_Commands)
def command() -> None:
    """Inspect, resume, retry, cancel and share runs.

    Name a run as GROUP/RUN, or by the path of its folder.
    """
