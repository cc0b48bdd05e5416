"""What completes the names of competitions, agents, groups and runs in a shell."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class _Name(click.ParamType[str]):
    """Text, with the names that a shell may complete it to."""

    name = "text"

    def __init__(self, known: Callable[[click.Context, str], Iterable[str]]) -> None:
        self._known = known

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        return [CompletionItem(name) for name in sorted(self._known(ctx, incomplete)) if name.startswith(incomplete)]


def _plugin(kind: str) -> Callable[[click.Context, str], Iterable[str]]:
    def known(_: click.Context, __: str) -> Iterable[str]:
        from mlecore.plugins.discovery import names

        return names(kind)

    return known


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


def _option_of(kind: str, default: str | None = None) -> _Name:
    """``NAME=`` of the options that the named plugin declares (of several, the last), then the option's choices."""

    def known(ctx: click.Context, incomplete: str) -> Iterable[str]:
        from mlecore.errors import MlecoreError
        from mlecore.plugins.loading import load

        named = ctx.params.get(kind) or default
        name = named[-1] if isinstance(named, tuple) else named
        if not name:
            return []
        try:
            loaded = load(kind, name)
            declared = loaded.call(kind, options={}) if kind == "backend" else loaded.call(kind)
        except MlecoreError:
            return []
        chosen = next((option for option in declared.options if incomplete.startswith(f"{option.name}=")), None)
        if chosen is not None:
            return [f"{chosen.name}={choice}" for choice in chosen.choices]
        return [f"{option.name}=" for option in declared.options]

    return _Name(known)


class _Competition(_Name):
    """A competition's id, or the address of its page on Kaggle."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        from mlecore.plugins.competitions import id_of

        return id_of(value)


class _Word(_Name):
    """One of the known words."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        from mlecore.errors import UsageError

        if value not in (known := self._known(click.get_current_context(), "")):
            raise UsageError(f"unknown {param and param.name} {value!r}; available: {', '.join(known)}")
        return value


def _splits(_: click.Context, __: str) -> Iterable[str]:
    from mlecore.plugins.competitions import split_names

    return split_names()


def _states(_: click.Context, __: str) -> Iterable[str]:
    from mlecore.model.record import STATES

    return STATES


def _ends(_: click.Context, __: str) -> Iterable[str]:
    from mlecore.model.record import ENDS

    return ENDS


COMPETITION = _Competition(_plugin("competition"))
AGENT, BACKEND, DETECTOR = (_Name(_plugin(kind)) for kind in ("agent", "backend", "detector"))
AGENT_OPTION, BACKEND_OPTION = _option_of("agent"), _option_of("backend", "vm")
SPLIT, STATE, END = _Word(_splits), _Word(_states), _Word(_ends)
GROUP, RUN = _Name(_groups), _Name(_groups_and_runs)
