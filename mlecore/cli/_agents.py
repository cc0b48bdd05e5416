"""Several agents in one command: -A and --label belong to the --agent before them, and so do several --model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from mlecore.errors import UsageError

_ORDER = "mlecore.cli.order"
FLAGS = ("agent", "options", "model", "label")


class OrderedCommand(click.Command):
    """Remembers in which order its options were given, and lists them in ``sections``: title -> first option."""

    def __init__(self, *args: Any, sections: Mapping[str, str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._first = {name: title for title, name in sections.items()}

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        lines: dict[str, list[tuple[str, str]]] = {}
        title = "Options"
        for parameter in self.get_params(ctx):
            title = self._first.get(parameter.name or "", title)
            if (line := parameter.get_help_record(ctx)) is not None:
                lines.setdefault(title, []).append(line)
        for title, rows in lines.items():
            with formatter.section(title):
                formatter.write_dl(rows)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not ctx.resilient_parsing:
            _, _, order = self.make_parser(ctx).parse_args(args=list(args))
            ctx.meta[_ORDER] = [parameter.name for parameter in order]
        return super().parse_args(ctx, args)


def agents_given(context: click.Context, flags: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """``agent`` and ``model`` as arguments of ``mlecore.run``, from these flags, all of them repeatable.

    A single model is for all agents. What else stands before the first of several agents is an error, as nobody could
    say whose it is.
    """
    from mlecore.model.options import pairs

    found: dict[str, Any] = {"model": flags["model"][0]} if len(flags["model"]) == 1 else {}
    order = [name for name in context.meta[_ORDER] if name in flags.keys() - found.keys()]
    if len(flags["agent"]) == 1:  # whatever else is given is that agent's
        order.sort(key=lambda name: name != "agent")
    left = {name: iter(values) for name, values in flags.items()}
    tables: list[dict[str, Any]] = []
    for name in order:
        flag, value = "-A" if name == "options" else f"--{name}", next(left[name])
        if name == "agent":
            tables.append({"name": value, "options": []})
        elif not tables:
            raise UsageError(f"{flag} comes before the first --agent", fix="Put it after the agent's name.")
        elif name == "options":
            tables[-1]["options"].append(value)
        elif name in tables[-1]:
            raise UsageError(f"{flag} is given twice for {tables[-1]['name']}", fix="Repeat --agent before each.")
        else:
            tables[-1][name] = value
    for table in tables:
        table["options"] = pairs(table["options"], "-A")
    return {**found, "agent": tables} if tables else found
