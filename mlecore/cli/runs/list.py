"""`mlecore runs list`: groups, or runs that fit filters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from time import time
from typing import TYPE_CHECKING, Any

import click
from attrs import asdict, frozen

from mlecore.cli._names import AGENT, GROUP, STATE
from mlecore.cli._shared import competitions_named, echo, json_option, print_json, print_table, runs_option
from mlecore.cli.runs._names import group_folder
from mlecore.errors import MlecoreError, UsageError

if TYPE_CHECKING:
    from mlecore.model.record import RunRecord


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
    from mlecore.runs.store import load_group

    _known_words(state, ended)
    problems: list[str] = []
    folders = [group_folder(runs, name) for name in names] or groups(runs)
    found: dict[Path, list[_Line]] = {}
    for folder in folders:
        try:
            found[folder] = [_line(run) for run in load_group(folder, problems)]
        except MlecoreError as error:
            problems.append(str(error))

    def fits(line: _Line) -> bool:
        run = line.record
        return (
            (not state or run.state in state)
            and (not ended or run.ended in ended)
            and (not agent or run.agent.name in agent or run.label in agent)
            and (not competition or run.competition in competition)
        )

    if names or state or ended or agent or competition:
        named = ((_group(folder), lines) for folder, lines in found.items())
        _list_runs([(group, line) for group, lines in named for line in lines if fits(line)], as_json)
    else:
        _list_groups(found, runs, as_json)
    for problem in problems:
        echo(f"warning: {problem}", err=True)


def _known_words(state: tuple[str, ...], ended: tuple[str, ...]) -> None:
    if not (state or ended):
        return
    from mlecore.model.record import ENDS, STATES

    for what, given, known in (("state", state, STATES), ("end", ended, ENDS)):
        for word in given:
            if word not in known:
                raise UsageError(f"unknown {what} {word!r}; available: {', '.join(known)}")


def _group(folder: Path) -> str:
    """Its name; a run's folder may be listed, too."""
    from mlecore.runs.folders import is_run

    return folder.parent.name if is_run(folder) else folder.name


@frozen
class _Line:
    """A run, and what its grade.json says."""

    record: RunRecord
    seconds: float | None  # of the attempt that counts, so far
    altered: bool  # run.json or grade.json is not as mlecore wrote it
    status: str | None
    score: str | None


def _line(run: RunRecord) -> _Line:
    from mlecore.runs.store import read_grade

    grade, digest = read_grade(run.folder) if run.state == "graded" else (None, "")
    published = run.digests.grade if run.digests else None
    status, score = (value if isinstance(value, str) else None for value in map((grade or {}).get, _GRADE))
    altered = run.altered or (published is not None and published != digest)
    return _Line(run, run.elapsed(datetime.now(UTC)), altered, status, score)


_GRADE = ("status", "score_text")  # of a file that somebody may have edited


def _list_runs(found: Sequence[tuple[str, _Line]], as_json: bool) -> None:
    if as_json:
        print_json([_row(group, line) for group, line in found])
        return
    header = ["RUN", "STATE", "ENDED", "ATTEMPTS", "TIME", "SCORE", "REASON"]
    print_table(header, [_cells(group, line) for group, line in found])
    echo(_total([line for _, line in found]))


def _row(group: str, line: _Line) -> dict[str, Any]:
    run = line.record
    return {
        "group": group,
        "run": run.folder.name,
        "agent": run.agent.name,
        **{name: getattr(run, name) for name in ("label", "competition", "seed", "state")},
        "altered": line.altered,
        "ended": run.ended,
        "outcome": asdict(run.outcome) if run.outcome else None,
        "attempts": len(run.attempts),
        **{name: getattr(line, name) for name in ("seconds", "status", "score")},
        "data_kind": run.data_kind,
        "reason": run.reason,
    }


def _total(runs: Sequence[_Line]) -> str:
    from mlecore.util.units import counted, show_duration

    states = Counter(run.record.state for run in runs)
    words = ", ".join(f"{number} {state}" for state, number in sorted(states.items()))
    time = sum(run.seconds or 0.0 for run in runs)
    return f"{counted(len(runs), 'run')}{f': {words}; {show_duration(time)} in all' if runs else ''}"


def _cells(group: str, line: _Line) -> list[str]:
    from mlecore.util.units import show_duration

    run = line.record
    return [
        f"{group}/{run.folder.name}",
        f"{run.state}{' (altered)' if line.altered else ''}",
        run.ended or "",
        str(len(run.attempts) or ""),
        "" if line.seconds is None else show_duration(line.seconds),
        _score(line),
        _first_line(_why(run)),
    ]


def _why(run: RunRecord) -> str:
    """The reason, and how the agent says it ended, unless that goes without saying."""
    if run.outcome is None or run.outcome.kind == "submitted":
        return run.reason
    return "; ".join(filter(None, (f"agent: {run.outcome}", run.reason)))


def _score(line: _Line) -> str:
    """Scores on other than published data compare with nothing, and say so wherever they stand."""
    if line.status != "graded":
        return line.status or ""
    kind = line.record.data_kind
    return _short(line.score) + (f" ({kind})" if kind not in (None, "published") else "")


def _short(score: str | None) -> str:
    try:
        return f"{float(score or ''):.5f}"
    except ValueError:
        return score or ""


def _first_line(text: str) -> str:
    line = (text.splitlines() or [""])[0]
    return line if len(line) <= 60 else f"{line[:57]}..."


def _elapsed(runs: Sequence[_Line]) -> float | None:
    """Seconds from the first start of a run to the last end, or to now if a run is active; None: none has begun."""
    from mlecore.model.record import moment

    starts, ends = list[float](), list[float]()
    for attempt in (attempt for run in runs for attempt in run.record.attempts):
        if start := moment(attempt.started_at):
            end = moment(attempt.ended_at)
            starts.append(start.timestamp())
            ends.append(end.timestamp() if end else time())
    return max(0.0, max(ends) - min(starts)) if starts else None


def _list_groups(found: dict[Path, list[_Line]], runs: Path, as_json: bool) -> None:
    from mlecore.runs.lock import holder
    from mlecore.util.units import show_duration

    rows, out = [], []
    for folder, lines in found.items():
        states = Counter(run.record.state for run in lines)
        runner = holder(folder)
        at = f"process {runner.get('pid')} on {runner.get('host')}" if runner else ""
        agents = sorted({run.record.label for run in lines})
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
