"""Passing a request to the controller of a group, or fulfilling it if there is none."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mlecore.cli.runs._names import one_run
from mlecore.cli.shared import echo, in_folder
from mlecore.errors import UsageError
from mlecore.util.units import counted

if TYPE_CHECKING:
    from mlecore.runs.requests import Request

_COMMANDS: Mapping[Request, str] = {"cancel": "cancel", "force": "retry", "retry": "retry"}
_DONE: Mapping[Request, str] = {"cancel": "cancelled", "force": "retried", "retry": "retried"}
_RETRY_GRADED = "To replace its result by that of a new attempt: --force"


def ask(
    names: tuple[str, ...],
    runs: Path,
    request: Request,
    of_group: tuple[str, ...],
    allowed: tuple[str, ...],
    *,
    ended: tuple[str, ...] = (),
    confirm: Callable[[Sequence[Path]], None] | None = None,
) -> None:
    """Leave requests for the controller of each group, or fulfil them here if there is none.

    A group means its runs in a state of ``of_group`` (that ``ended`` in one of these ways); a run that is named must be
    in one of ``allowed``. ``confirm`` gets the folders of all runs before anything is done, and may abort.
    """
    from mlecore.runs.store import load_group

    wanted: dict[Path, list[str]] = {}
    whole: set[Path] = set()  # groups that were named themselves
    for name in names:
        folder = runs / name if (runs / name).exists() else Path(name)
        if (folder / "plan.toml").is_file():
            found = (
                record.name
                for record in load_group(folder)
                if record.state in of_group and (not ended or record.ended in ended)
            )
            wanted.setdefault(folder, []).extend(found)
            whole.add(folder)
            continue
        record = one_run(runs, name)
        show = f"mlecore runs show {name}"
        if record.state not in allowed:
            raise UsageError(
                f"{name} is {record.state}; only {' or '.join(allowed)} runs can be {_DONE[request]}",
                fix=_RETRY_GRADED if record.state == "graded" and request == "retry" else f"To see it: {show}",
            )
        wanted.setdefault(record.folder.parent, []).append(record.name)
    if confirm is not None:
        confirm([folder / run for folder, of in wanted.items() for run in of])
    codes = [_ask_group(folder, of, folder in whole, request, of_group) for folder, of in wanted.items()]
    if code := max(codes):
        raise click.exceptions.Exit(code)


def _ask_group(folder: Path, wanted: Sequence[str], whole: bool, request: Request, of_group: tuple[str, ...]) -> int:
    """The exit code of one group, so that the next ones are asked too."""
    if not wanted:
        what = f"no such run is {' or '.join(of_group)}{_instead(folder, request)}"
        echo(f"{folder.name}: nothing to {_COMMANDS[request]}: {what}", err=True)
        return 0
    try:
        _hand_over(folder, wanted, whole, request)
    except click.exceptions.Exit as end:
        return end.exit_code
    return 0


def _instead(folder: Path, request: Request) -> str:
    """A group's cancelled runs are not tried again with its failed ones: somebody did not want them."""
    from mlecore.runs.store import load_group

    cancelled = [record.name for record in load_group(folder) if record.state == "cancelled"]
    if request != "retry" or not cancelled:
        return ""
    words = f"{counted(len(cancelled), 'run')} {'is' if len(cancelled) == 1 else 'are'} cancelled"
    return f"; {words}, and tried again only by name: mlecore runs retry {folder.name}/{cancelled[0]}"


def _hand_over(folder: Path, wanted: Sequence[str], whole: bool, request: Request) -> None:
    from mlecore.cli.run import perform
    from mlecore.runs import requests
    from mlecore.runs.contents import check_group
    from mlecore.runs.lock import holder
    from mlecore.runs.ownership import require_own
    from mlecore.runs.store import open_group
    from mlecore.util.locks import LockHeld

    group = open_group(folder)
    check_group(folder)
    if holder(folder) is None:
        require_own(group)
    for run in [requests.ALL] if whole and request == "cancel" else wanted:
        requests.leave(folder, run, request)
    held = holder(folder)  # asked now: a controller that is still there finds the requests before it ends
    if held is None:
        try:
            perform(group.plan, folder.name, folder.parent, (), False, frozenset(wanted), start_new=False)
        except LockHeld:  # a controller has started: it finds the requests
            held = holder(folder) or {}
    if held is not None:
        who = f"process {held.get('pid', '?')} on host {held.get('host', '?')}"
        echo(
            f"{folder.name}: asked its controller ({who}) to {_COMMANDS[request]} {counted(len(wanted), 'run')}",
            err=True,
        )
    elif request != "cancel":
        echo(f"To start them: mlecore runs resume {folder.name}{in_folder(folder.parent)}", err=True)
