"""A group of commands: one file each, imported when it is used, and those that a plugin adds."""

from __future__ import annotations

import importlib
import keyword
from collections.abc import Sequence
from typing import Any

import click


class Group(click.Group):
    """A plugin's group of the same name adds its commands: `mlecore data push` comes with mle-ext-data-sharing."""

    def __init__(self, *args: Any, package: str, own: Sequence[str], **kwargs: Any) -> None:
        """``own``: the commands whose files lie in ``package``, in the order in which help lists them."""
        super().__init__(*args, **kwargs)
        self._package, self._own = package, own

    def list_commands(self, ctx: click.Context) -> list[str]:
        added = self._added()
        return [*self._own, *(added.list_commands(ctx) if added else ())]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in self._own:
            added = self._added()
            return added.get_command(ctx, name) if added else None
        module = f"{name}_" if keyword.iskeyword(name) else name
        command: click.Command = importlib.import_module(f"{self._package}.{module}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        from mlecore.registry.published import published

        package = published("command").get(str(self.name))
        if package and self.get_command(ctx, args[0]) is None and self._added() is None:
            ctx.fail(f"No such command {args[0]!r}. More commands come with {package}: pip install {package}")
        return super().resolve_command(ctx, args)

    def _added(self) -> click.Group | None:
        """Raises PluginError if a plugin's group cannot be imported."""
        from mlecore.cli import provided

        command = provided(str(self.name))
        return command if isinstance(command, click.Group) else None
