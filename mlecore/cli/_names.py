"""What completes the names of competitions, agents, groups and runs in a shell."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path

import click
from click.shell_completion import CompletionItem


class _Name(click.ParamType[str]):
    """Text, with the names that a shell may complete it to."""

    name = "text"

    def __init__(self, known: Callable[[click.Context, str], Iterable[str]]) -> None:
        self._known = known

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return [CompletionItem(name) for name in sorted(self._known(ctx, incomplete)) if name.startswith(incomplete)]


def _plugin(kind: str) -> _Name:
    def known(_: click.Context, __: str) -> Iterable[str]:
        from mlecore.registry.discovery import plugins

        return [plugin.name for plugin in plugins(kind)]

    return _Name(known)


def _folders(folder: Path) -> list[str]:
    try:
        return [entry.name for entry in os.scandir(folder) if entry.is_dir() and not entry.name.startswith(".")]
    except OSError:
        return []


def _runs_folder(ctx: click.Context) -> Path:
    return Path(ctx.params.get("runs") or os.environ.get("MLECORE_RUNS") or "runs")


def _groups(ctx: click.Context, _: str) -> list[str]:
    runs = _runs_folder(ctx)
    return [name for name in _folders(runs) if (runs / name / "group.json").is_file()]


def _groups_and_runs(ctx: click.Context, incomplete: str) -> list[str]:
    group, slash, _ = incomplete.partition("/")
    if not slash:
        return _groups(ctx, incomplete)
    runs = _runs_folder(ctx) / group
    return [f"{group}/{name}" for name in _folders(runs) if (runs / name / "run.json").is_file()]


COMPETITION, AGENT, BACKEND, DETECTOR = map(_plugin, ("competition", "agent", "backend", "detector"))
GROUP, RUN = _Name(_groups), _Name(_groups_and_runs)
