"""`mlecore runs list`: groups, or runs that fit filters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from time import time
from typing import TYPE_CHECKING, Any

import click
from attrs import asdict

from mlecore.cli.names import AGENT, END, GROUP, STATE
from mlecore.cli.runs._names import group_folder
from mlecore.cli.shared import competitions_named, echo, json_option, print_json, print_table, runs_option
from mlecore.errors import MlecoreError
from mlecore.util.units import counted, show_duration

if TYPE_CHECKING:
    from mlecore.model.record import RunRecord


@click.command("list")
@click.argument("names", type=GROUP, nargs=-1, metavar="[GROUP]...")
@click.option("--state", type=STATE, multiple=True, help="Only runs in this state; repeatable.")
@click.option("--ended", type=END, multiple=True, help="Only runs with this outcome: finished, timed_out, oom ...")
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
    from mlecore.runs.store import load_group

    problems: list[str] = []
    found: dict[Path, list[RunRecord]] = {}
    for folder in [group_folder(runs, name) for name in names] or groups(runs):
        try:
            found[folder] = load_group(folder, problems)
        except MlecoreError as error:
            problems.append(str(error))
    if names or state or ended or agent or competition:
        fitting = [
            run
            for records in found.values()
            for run in records
            if (not state or run.state in state)
            and (not ended or run.ended in ended)
            and (not agent or run.agent.name in agent or run.label in agent)
            and (not competition or run.competition in competition)
        ]
        _list_runs(fitting, as_json)
    else:
        _list_groups(found, runs, as_json)
    for problem in problems:
        echo(f"warning: {problem}", err=True)


def _list_runs(runs: Sequence[RunRecord], as_json: bool) -> None:
    rows = [_row(run) for run in runs]
    if as_json:
        print_json(rows)
        return
    header = ["RUN", "STATE", "ENDED", "ATTEMPTS", "TIME", "SCORE", "REASON"]
    print_table(header, map(_cells, runs, rows), spare=["ATTEMPTS", "TIME"])
    used = f": {_states(runs)}; {show_duration(sum(row['seconds'] or 0.0 for row in rows))} in all" if runs else ""
    echo(f"{counted(len(runs), 'run')}{used}")


def _row(run: RunRecord) -> dict[str, Any]:
    from mlecore.runs.store import read_grade

    grade, digest = read_grade(run.folder) if run.state == "graded" else (None, "")
    published = run.digests.grade if run.digests else None
    graded = {name: (grade or {}).get(name) for name in ("status", "score_text")}  # which somebody may have edited
    status, score = (value if isinstance(value, str) else None for value in graded.values())
    return {
        "group": run.folder.parent.name,
        "run": run.folder.name,
        "agent": run.agent.name,
        **{name: getattr(run, name) for name in ("label", "competition", "seed", "state")},
        "altered": run.altered or (published is not None and published != digest),
        "ended": run.ended,
        "outcome": asdict(run.outcome) if run.outcome else None,
        "attempts": len(run.attempts),
        "seconds": run.elapsed(datetime.now(UTC)),
        "status": status,
        "score": score,
        "data_kind": run.data_kind,
        "reason": run.reason,
    }


def _cells(run: RunRecord, row: dict[str, Any]) -> list[str]:
    agents = f"agent: {run.outcome}" if run.outcome and run.outcome.kind != "submitted" else ""
    reason = "; ".join(filter(None, (agents, run.reason))).partition("\n")[0]
    return [
        f"{row['group']}/{row['run']}",
        f"{run.state}{' (altered)' if row['altered'] else ''}",
        run.ended or "",
        str(row["attempts"] or ""),
        "" if row["seconds"] is None else show_duration(row["seconds"]),
        _score(row),
        reason,
    ]


def _score(row: dict[str, Any]) -> str:
    """Scores on other than published data compare with nothing, and say so wherever they stand."""
    if row["status"] != "graded":
        return row["status"] or ""
    score, kind = row["score"] or "", row["data_kind"]
    with suppress(ValueError):
        score = f"{float(score):.5f}"
    return score + (f" ({kind})" if kind not in (None, "published") else "")


def _states(runs: Iterable[RunRecord]) -> str:
    states = Counter(run.state for run in runs)
    return ", ".join(f"{number} {state}" for state, number in sorted(states.items()))


def _elapsed(runs: Sequence[RunRecord]) -> float | None:
    """Seconds from the first start of a run to the last end, or to now if a run is active; None: none has begun."""
    from mlecore.model.record import moment

    starts, ends = list[float](), list[float]()
    for attempt in (attempt for run in runs for attempt in run.attempts):
        if start := moment(attempt.started_at):
            end = moment(attempt.ended_at)
            starts.append(start.timestamp())
            ends.append(end.timestamp() if end else time())
    return max(0.0, max(ends) - min(starts)) if starts else None


def _list_groups(found: dict[Path, list[RunRecord]], folder: Path, as_json: bool) -> None:
    from mlecore.runs.lock import holder

    groups: list[dict[str, Any]] = [
        {
            "group": group.name,
            "folder": str(group),
            "states": Counter(run.state for run in runs),
            "agents": sorted({run.label for run in runs}),
            "elapsed": _elapsed(runs),
            "seconds": sum(run.elapsed(datetime.now(UTC)) or 0.0 for run in runs),
            "held": holder(group),
        }
        for group, runs in found.items()
    ]
    if as_json:
        print_json(groups)
        return
    if not groups:
        echo(f"no groups in {folder.absolute()}; name another folder with --runs or MLECORE_RUNS", err=True)
        return
    rows = [
        [
            each["group"],
            str(len(runs)),
            _states(runs),
            ", ".join(each["agents"][:4]) + (" ..." if len(each["agents"]) > 4 else ""),
            "" if each["elapsed"] is None else show_duration(each["elapsed"]),
            show_duration(each["seconds"]),
            f"process {each['held'].get('pid')} on {each['held'].get('host')}" if each["held"] else "",
        ]
        for each, runs in zip(groups, found.values(), strict=True)
    ]
    print_table(["GROUP", "RUNS", "STATES", "AGENTS", "ELAPSED", "OF RUNS", "CONTROLLER"], rows, spare=["OF RUNS"])
