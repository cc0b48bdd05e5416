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
    """``agent``, ``options`` and ``model`` as arguments of ``mlecore.run``, from these flags, all of them repeatable.

    A single model is for all agents. What else stands before the first of several agents is an error, as nobody could
    say whose it is.
    """
    from mlecore.options import pairs

    found: dict[str, Any] = {"model": flags["model"][0]} if len(flags["model"]) == 1 else {}
    if len(flags["agent"]) < 2 and not flags["label"]:
        if len(flags["model"]) > 1:
            raise UsageError("--model is given twice for one agent", fix="Repeat --agent before each, or write a plan.")
        found |= {"agent": flags["agent"][0]} if flags["agent"] else {}
        return {**found, "options": pairs(flags["options"], "-A")} if flags["options"] else found
    left = {name: iter(flags[name]) for name in FLAGS}
    tables: list[dict[str, Any]] = []
    for name in context.meta[_ORDER]:
        if name == "agent":
            tables.append({"name": next(left[name]), "options": []})
        elif name not in left or (name == "model" and found):
            continue
        elif not tables:
            flag = "-A" if name == "options" else f"--{name}"
            raise UsageError(f"{flag} comes before the first --agent", fix="Put it after the agent's name.")
        elif name == "options":
            tables[-1]["options"].append(next(left[name]))
        elif name in tables[-1]:
            raise UsageError(f"--{name} is given twice for {tables[-1]['name']}")
        else:
            tables[-1][name] = next(left[name])
    return {**found, "agent": [{**table, "options": pairs(table["options"], "-A")} for table in tables]}
