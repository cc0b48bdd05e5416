"""`mlecore runs list`: groups, or runs that fit filters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mlecore.cli._names import AGENT, COMPETITION, GROUP, STATE
from mlecore.cli._shared import echo, json_option, print_json, print_table, runs_option
from mlecore.cli.runs._names import group_folder
from mlecore.errors import MlecoreError, UsageError

if TYPE_CHECKING:
    from mlecore.runs.record import RunSummary


@click.command("list")
@click.argument("names", type=GROUP, nargs=-1, metavar="[GROUP]...")
@click.option("--state", type=STATE, multiple=True, help="Only runs in this state; repeatable.")
@click.option("--ended", multiple=True, help="Only runs with this outcome: finished, timed_out, crashed, oom ...")
@click.option("--agent", type=AGENT, multiple=True, help="Only runs of this agent (or label).")
@click.option("--competition", type=COMPETITION, multiple=True, help="Only runs on this competition.")
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
    from mlecore.runs.store import groups, load_summaries

    _known_words(state, ended)
    problems: list[str] = []
    folders = [group_folder(runs, name) for name in names] or groups(runs)
    found: dict[Path, list[RunSummary]] = {}
    for folder in folders:
        try:
            found[folder] = load_summaries(folder, problems)
        except MlecoreError as error:
            problems.append(str(error))

    def fits(record: RunSummary) -> bool:
        return (
            (not state or record.state in state)
            and (not ended or record.ended in ended)
            and (not agent or record.agent.name in agent or record.label in agent)
            and (not competition or record.competition in competition)
        )

    if names or state or ended or agent or competition:
        _list_runs([record for records in found.values() for record in records if fits(record)], as_json)
    else:
        _list_groups(found, runs, as_json)
    for problem in problems:
        echo(f"warning: {problem}", err=True)


def _known_words(state: tuple[str, ...], ended: tuple[str, ...]) -> None:
    from mlecore.runs.record import ENDS, STATES

    for what, given, known in (("state", state, STATES), ("end", ended, ENDS)):
        for word in given:
            if word not in known:
                raise UsageError(f"unknown {what} {word!r}; available: {', '.join(known)}")


def _list_runs(records: list[RunSummary], as_json: bool) -> None:
    rows = map(_row, records)
    if as_json:
        print_json(list(rows))
        return
    shown = list(rows)
    print_table(["RUN", "STATE", "ENDED", "ATTEMPTS", "TIME", "SCORE", "REASON"], map(_cells, shown))
    echo(_total(shown))


def _row(record: RunSummary) -> dict[str, Any]:
    from attrs import asdict

    from mlecore.runs.store import read_grade

    grade, digest = read_grade(record.folder) if record.state == "graded" else (None, "")
    grade = grade or {}
    published = record.digests.grade if record.digests else None
    return {
        "group": record.folder.parent.name,
        "run": record.folder.name,
        "agent": record.agent.name,
        "label": record.label,
        "competition": record.competition,
        "seed": record.seed,
        "state": record.state,
        "altered": record.altered or (published is not None and published != digest),
        "ended": record.ended,
        "outcome": record.outcome and asdict(record.outcome),
        "attempts": len(record.attempts),
        "seconds": record.elapsed(datetime.now(UTC)),
        "status": _text(grade.get("status")),
        "score": _text(grade.get("score_text")),
        "data_kind": record.data_kind,
        "reason": record.reason,
    }


def _total(rows: Sequence[Mapping[str, Any]]) -> str:
    from mlecore.units import counted, show_duration

    states = Counter(row["state"] for row in rows)
    words = ", ".join(f"{number} {state}" for state, number in sorted(states.items()))
    time = sum(row["seconds"] or 0.0 for row in rows)
    return f"{counted(len(rows), 'run')}{f': {words}; {show_duration(time)} in all' if rows else ''}"


def _cells(row: dict[str, Any]) -> list[str]:
    from mlecore.units import show_duration

    return [
        f"{row['group']}/{row['run']}",
        f"{row['state']}{' (altered)' if row['altered'] else ''}",
        row["ended"] or "",
        str(row["attempts"] or ""),
        "" if row["seconds"] is None else show_duration(row["seconds"]),
        _score(row),
        _first_line(_why(row)),
    ]


def _why(row: Mapping[str, Any]) -> str:
    """The reason, and how the agent says it ended, unless that goes without saying."""
    from mlecore.agents import Outcome

    outcome = Outcome(**row["outcome"]) if row["outcome"] and row["outcome"]["kind"] != "submitted" else None
    return "; ".join(filter(None, (f"agent: {outcome}" if outcome else "", row["reason"])))


def _text(value: object) -> str | None:
    """A value of a grade.json that somebody may have edited."""
    return value if isinstance(value, str) else None


def _score(row: Mapping[str, Any]) -> str:
    """Scores on other than published data compare with nothing, and say so wherever they stand."""
    if row["status"] != "graded":
        return row["status"] or ""
    return _short(row["score"]) + (f" ({row['data_kind']})" if row["data_kind"] not in (None, "published") else "")


def _short(score: str | None) -> str:
    try:
        return f"{float(score or ''):.5f}"
    except ValueError:
        return score or ""


def _first_line(text: str) -> str:
    line = (text.splitlines() or [""])[0]
    return line if len(line) <= 60 else f"{line[:57]}..."


def _elapsed(records: Sequence[RunSummary]) -> float | None:
    """Seconds from the first start of a run to the last end, or to now if a run is active; None: none has begun."""
    from mlecore.runs.record import moment

    attempts = [attempt for record in records for attempt in record.attempts]
    starts = [started for attempt in attempts if (started := moment(attempt.started_at))]
    ends = [moment(attempt.ended_at) or datetime.now(UTC) for attempt in attempts if moment(attempt.started_at)]
    return max(0.0, (max(ends) - min(starts)).total_seconds()) if starts else None


def _list_groups(found: dict[Path, list[RunSummary]], runs: Path, as_json: bool) -> None:
    from mlecore.runs.lock import holder
    from mlecore.units import show_duration

    rows, out = [], []
    for folder, records in found.items():
        states = Counter(record.state for record in records)
        runner = holder(folder)
        at = f"process {runner.get('pid')} on {runner.get('host')}" if runner else ""
        agents = sorted({record.label for record in records})
        elapsed, used = _elapsed(records), sum(record.elapsed(datetime.now(UTC)) or 0.0 for record in records)
        rows.append(
            [
                folder.name,
                str(len(records)),
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
