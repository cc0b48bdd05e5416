"""`mlecore runs list`: groups, or runs that fit filters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from time import time
from typing import TYPE_CHECKING, Any

import click

from mlecore.cli._names import AGENT, GROUP, STATE
from mlecore.cli._shared import competitions_named, echo, json_option, print_json, print_table, runs_option
from mlecore.cli.runs._names import group_folder
from mlecore.errors import MlecoreError, UsageError

if TYPE_CHECKING:
    from mlecore.runs.lines import RunLine


@click.command("list")
@click.argument("names", type=GROUP, nargs=-1, metavar="[GROUP]...")
@click.option("--state", type=STATE, multiple=True, help="Only runs in this state; repeatable.")
@click.option("--ended", multiple=True, help="Only runs with this outcome: finished, timed_out, crashed, oom ...")
@click.option("--agent", type=AGENT, multiple=True, help="Only runs of this agent (or label).")
@competitions_named("--competition", help="Only runs on this competition")
@runs_option
@json_option
def command(
    names: tuple[str, ...],
    state: tuple[str, ...],
    ended: tuple[str, ...],
    agent: tuple[str, ...],
    competition: tuple[str, ...],
    runs: Path,
    as_json: bool,
) -> None:
    """List groups, or the runs of groups.

    Without GROUP and filters, lists all groups. `mlecore runs show GROUP/RUN --json` prints everything known about
    a run.
    """
    from mlecore.runs.folders import groups
    from mlecore.runs.lines import list_runs

    _known_words(state, ended)
    problems: list[str] = []
    folders = [group_folder(runs, name) for name in names] or groups(runs)
    found: dict[Path, list[RunLine]] = {}
    for folder in folders:
        try:
            found[folder] = list_runs(folder, problems)
        except MlecoreError as error:
            problems.append(str(error))

    def fits(run: RunLine) -> bool:
        return (
            (not state or run.state in state)
            and (not ended or run.ended in ended)
            and (not agent or run.agent in agent or run.label in agent)
            and (not competition or run.competition in competition)
        )

    if names or state or ended or agent or competition:
        named = ((_group(folder), lines) for folder, lines in found.items())
        _list_runs([(group, run) for group, lines in named for run in lines if fits(run)], as_json)
    else:
        _list_groups(found, runs, as_json)
    for problem in problems:
        echo(f"warning: {problem}", err=True)


def _known_words(state: tuple[str, ...], ended: tuple[str, ...]) -> None:
    if not (state or ended):
        return
    from mlecore.runs.record import ENDS, STATES

    for what, given, known in (("state", state, STATES), ("end", ended, ENDS)):
        for word in given:
            if word not in known:
                raise UsageError(f"unknown {what} {word!r}; available: {', '.join(known)}")


def _group(folder: Path) -> str:
    """Its name; a run's folder may be listed, too."""
    from mlecore.runs.folders import is_run

    return folder.parent.name if is_run(folder) else folder.name


def _list_runs(found: Sequence[tuple[str, RunLine]], as_json: bool) -> None:
    if as_json:
        print_json([_row(group, run) for group, run in found])
        return
    header = ["RUN", "STATE", "ENDED", "ATTEMPTS", "TIME", "SCORE", "REASON"]
    print_table(header, [_cells(group, run) for group, run in found])
    echo(_total([run for _, run in found]))


def _row(group: str, run: RunLine) -> dict[str, Any]:
    values = run._asdict()
    del values["started"], values["finished"]
    return {"group": group, "run": values.pop("name"), **values}


def _total(runs: Sequence[RunLine]) -> str:
    from mlecore.units import counted, show_duration

    states = Counter(run.state for run in runs)
    words = ", ".join(f"{number} {state}" for state, number in sorted(states.items()))
    time = sum(run.seconds or 0.0 for run in runs)
    return f"{counted(len(runs), 'run')}{f': {words}; {show_duration(time)} in all' if runs else ''}"


def _cells(group: str, run: RunLine) -> list[str]:
    from mlecore.units import show_duration

    return [
        f"{group}/{run.name}",
        f"{run.state}{' (altered)' if run.altered else ''}",
        run.ended or "",
        str(run.attempts or ""),
        "" if run.seconds is None else show_duration(run.seconds),
        _score(run),
        _first_line(_why(run)),
    ]


def _why(run: RunLine) -> str:
    """The reason, and how the agent says it ended, unless that goes without saying."""
    if run.outcome is None or run.outcome["kind"] == "submitted":
        return run.reason
    from mlecore.agents import Outcome

    return "; ".join(filter(None, (f"agent: {Outcome(**run.outcome)}", run.reason)))


def _score(run: RunLine) -> str:
    """Scores on other than published data compare with nothing, and say so wherever they stand."""
    if run.status != "graded":
        return run.status or ""
    return _short(run.score) + (f" ({run.data_kind})" if run.data_kind not in (None, "published") else "")


def _short(score: str | None) -> str:
    try:
        return f"{float(score or ''):.5f}"
    except ValueError:
        return score or ""


def _first_line(text: str) -> str:
    line = (text.splitlines() or [""])[0]
    return line if len(line) <= 60 else f"{line[:57]}..."


def _elapsed(runs: Sequence[RunLine]) -> float | None:
    """Seconds from the first start of a run to the last end, or to now if a run is active; None: none has begun."""
    times = [(run.started, run.finished) for run in runs if run.started is not None]
    if not times:
        return None
    return max(0.0, max(time() if end is None else end for _, end in times) - min(start for start, _ in times))


def _list_groups(found: dict[Path, list[RunLine]], runs: Path, as_json: bool) -> None:
    from mlecore.runs.lock import holder
    from mlecore.units import show_duration

    rows, out = [], []
    for folder, lines in found.items():
        states = Counter(run.state for run in lines)
        runner = holder(folder)
        at = f"process {runner.get('pid')} on {runner.get('host')}" if runner else ""
        agents = sorted({run.label for run in lines})
        elapsed, used = _elapsed(lines), sum(run.seconds or 0.0 for run in lines)
        rows.append(
            [
                folder.name,
                str(len(lines)),
                ", ".join(f"{number} {state}" for state, number in sorted(states.items())),
                ", ".join(agents[:4]) + (" ..." if len(agents) > 4 else ""),
                "" if elapsed is None else show_duration(elapsed),
                show_duration(used),
                at,
            ]
        )
        times = {"elapsed": elapsed, "seconds": used}
        out.append(
            {"group": folder.name, "folder": str(folder), "states": states, "agents": agents, **times, "held": runner}
        )
    if as_json:
        print_json(out)
    else:
        if not rows:
            echo(f"no groups in {runs.absolute()}; name another folder with --runs or MLECORE_RUNS", err=True)
            return
        print_table(["GROUP", "RUNS", "STATES", "AGENTS", "ELAPSED", "OF RUNS", "CONTROLLER"], rows)
