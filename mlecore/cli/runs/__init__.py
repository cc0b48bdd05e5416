"""`mlecore runs`: one file per verb next to this one, imported when it is used."""

from __future__ import annotations

import importlib
import keyword

import click

_VERBS = ("list", "show", "watch", "logs", "resume", "grade", "retry", "cancel", "export", "verify", "import", "adopt")


class _Verbs(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*_VERBS]  # not list(): once imported, the verb of that name stands in this module

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in _VERBS:
            return None
        module = f"{name}_" if keyword.iskeyword(name) else name
        command: click.Command = importlib.import_module(f"mlecore.cli.runs.{module}").command
        return command


@click.group("runs", cls=_Verbs)
def command() -> None:
    """Look at runs; resume, retry or cancel them; share them with others.

    A run is named GROUP/RUN, or by the path of its folder.
    """
