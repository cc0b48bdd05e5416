"""`mlecore runs`: look at runs; resume, retry or cancel them."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mlecore.cli._shared import data_option, json_option, print_json, print_table, runs_option
from mlecore.errors import MlecoreError, UsageError

if TYPE_CHECKING:
    from mlecore.runs.record import RunRecord


@click.group("runs")
def command() -> None:
    """Look at runs; resume, retry or cancel them.

    A run is named GROUP/RUN, or by the path of its folder.
    """


@command.command("list")
@click.argument("names", nargs=-1, metavar="[GROUP]...")
@click.option("--state", multiple=True, help="Only runs in this state; may be given again.")
@click.option("--ended", multiple=True, help="Only runs that ended so: finished, timed_out, crashed, oom ...")
@click.option("--agent", multiple=True, help="Only runs of this agent (or label).")
@click.option("--competition", multiple=True, help="Only runs on this competition.")
@runs_option
@json_option
def list_(
    names: tuple[str, ...],
    state: tuple[str, ...],
    ended: tuple[str, ...],
    agent: tuple[str, ...],
    competition: tuple[str, ...],
    runs: Path,
    as_json: bool,
) -> None:
    """All groups; or the runs of those that are named, or that fit the filters."""
    from mlecore.runs.store import groups, load_group

    _known_words(state, ended)
    problems: list[str] = []
    folders = [group_folder(runs, name) for name in names] or groups(runs)
    found: dict[Path, list[RunRecord]] = {}
    for folder in folders:
        try:
            found[folder] = load_group(folder, problems)
        except MlecoreError as error:
            problems.append(str(error))
    filters = bool(state or ended or agent or competition)

    def fits(record: RunRecord) -> bool:
        return (
            (not state or record.state in state)
            and (not ended or record.ended in ended)
            and (not agent or record.agent.name in agent or record.label in agent)
            and (not competition or record.competition in competition)
        )

    if names or filters:
        _list_runs([record for records in found.values() for record in records if fits(record)], as_json)
    else:
        _list_groups(found, as_json)
    for problem in problems:
        click.echo(f"warning: {problem}", err=True)


def _known_words(state: tuple[str, ...], ended: tuple[str, ...]) -> None:
    from mlecore.runs.record import ENDS, STATES

    for what, given, known in (("state", state, STATES), ("end", ended, ENDS)):
        for word in given:
            if word not in known:
                raise UsageError(f"there is no {what} {word!r}; there are: {', '.join(known)}")


def _list_runs(records: list[RunRecord], as_json: bool) -> None:
    from mlecore.runs.store import grade_of
    from mlecore.units import show_duration

    if as_json:
        print_json([record_json(record) for record in records])
        return
    rows = []
    for record in records:
        grade = (grade_of(record.folder) if record.state == "graded" else None) or {}
        score = grade.get("score_text") if grade.get("status") == "graded" else grade.get("status")
        used = "" if record.seconds is None else show_duration(record.seconds)
        tries = str(len(record.attempts) or "")
        run = f"{record.folder.parent.name}/{record.folder.name}"
        rows.append([run, record.state, record.ended or "", tries, used, _short(score), _first_line(record.reason)])
    print_table(["RUN", "STATE", "ENDED", "ATTEMPTS", "TIME", "SCORE", "REASON"], rows)


def record_json(record: RunRecord) -> dict[str, Any]:
    return {**record.to_json(), "folder": str(record.folder)}


def _short(score: str | None) -> str:
    try:
        return f"{float(score or ''):.5f}"
    except ValueError:
        return score or ""


def _first_line(text: str) -> str:
    line = (text.splitlines() or [""])[0]
    return line if len(line) <= 60 else f"{line[:57]}..."


def _list_groups(found: dict[Path, list[RunRecord]], as_json: bool) -> None:
    from mlecore.runs.lock import holder

    rows, out = [], []
    for folder, records in found.items():
        states = Counter(record.state for record in records)
        runner = holder(folder)
        at = f"process {runner.get('pid')} on {runner.get('host')}" if runner else ""
        agents = sorted({record.label for record in records})
        rows.append(
            [
                folder.name,
                str(len(records)),
                ", ".join(f"{number} {state}" for state, number in sorted(states.items())),
                ", ".join(agents[:4]) + (" ..." if len(agents) > 4 else ""),
                at,
            ]
        )
        out.append({"group": folder.name, "folder": str(folder), "states": states, "agents": agents, "held": runner})
    if as_json:
        print_json(out)
    else:
        print_table(["GROUP", "RUNS", "STATES", "AGENTS", "CONTROLLER"], rows)


@command.command("show")
@click.argument("name", metavar="GROUP/RUN")
@runs_option
@json_option
def show(name: str, runs: Path, as_json: bool) -> None:
    """One run: its record, its hardware, what happened to it, and its files."""
    from mlecore.runs.journal import Journal
    from mlecore.runs.store import grade_of

    record = one_run(runs, name)
    events = list(Journal(record.folder.parent).read(record.name))
    there = _files(record.folder)
    if as_json:
        grade = grade_of(record.folder)
        print_json({"record": record_json(record), "events": events, "files": there, "grade": grade})
        return
    _show_record(record)
    click.secho("\nevents", bold=True)
    for event in events:
        details = " ".join(
            f"{k}={v}" for k, v in event.items() if k not in ("at", "run", "event") and v not in ("", None)
        )
        click.echo(f"  {event.get('at')}  {event.get('event')} {details}".rstrip())
    click.secho("\nfiles", bold=True)
    from mlecore.units import show_size

    for path, size in list(there.items())[:200]:
        click.echo(f"  {show_size(size):>9}  {path}")
    if len(there) > 200:
        click.echo(f"  ... {len(there) - 200} more below {record.folder}")


def _show_record(record: RunRecord) -> None:
    from mlecore.units import show_duration, show_size

    limits, collected = record.limits, record.collected
    options = " ".join(f"{name}={value}" for name, value in record.agent.options.items())
    place = " ".join(f"{name}={value}" for name, value in record.place.items())
    lines = {
        "run": f"{record.group}/{record.name} ({record.uid})",
        "state": f"{record.state}{f', {record.ended}' if record.ended else ''}",
        "reason": record.reason,
        "agent": f"{record.agent.name} {record.agent.version} {record.agent.source[:12]} {options}".strip(),
        "model": f"{record.model or ''} {record.endpoint or ''}".strip(),
        "competition": f"{record.competition} {record.edition}{' (synthetic data)' if record.synthetic else ''}",
        "seed": str(record.seed),
        "place": f"{record.backend.name} {record.backend.version} {place}".strip(),
        "limits": " ".join(
            [
                f"time={show_duration(limits.time)}",
                f"network={limits.network}",
                *([f"cpus={limits.cpus:g}"] if limits.cpus else []),
                *([f"memory={show_size(limits.memory)}"] if limits.memory else []),
                *([f"gpus={limits.gpus}"] if limits.gpus else []),
                *([f"disk={show_size(limits.disk)}"] if limits.disk else []),
            ]
        ),
        "time used": "" if record.seconds is None else show_duration(record.seconds),
        "hardware": " ".join(f"{name}={value}" for name, value in record.hardware.items()),
        "checks": f"{record.checks}, as reported by the sandbox" if collected else "",
        "collected": f"{collected.files} files, {show_size(collected.bytes)}" if collected else "",
    }
    for name, value in lines.items():
        if value:
            click.echo(f"{name + ':':13}{value}")
    for refused in collected.refused if collected else ():
        click.echo(f"{'refused:':13}{refused}")
    for attempt in record.attempts:
        how = f"{attempt.ended or 'at work'} {attempt.reason}".strip()
        click.echo(f"{f'attempt {attempt.number}:':13}{attempt.job}, started {attempt.started_at}, {how}")


def _files(folder: Path) -> dict[str, int]:
    if not folder.is_dir():
        return {}
    found = (path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink())
    return {path.relative_to(folder).as_posix(): path.stat().st_size for path in found}


@command.command("logs")
@click.argument("name", metavar="GROUP/RUN")
@click.option("-f", "--follow", is_flag=True, help="Go on until the process ends.")
@runs_option
def logs(name: str, follow: bool, runs: Path) -> None:
    """What the agent's process printed; of a run at work, from the place where it runs."""
    from mlecore.controller.output import output

    for chunk in output(one_run(runs, name), follow):
        sys.stdout.buffer.write(chunk)
        sys.stdout.buffer.flush()


@command.command("resume")
@click.argument("name", metavar="GROUP")
@click.option("--max-parallel", type=click.IntRange(1), help="At most so many runs at once.")
@click.option("--retries", type=click.IntRange(0), help="New attempts after the place's faults.")
@data_option
@runs_option
@json_option
def resume(
    name: str, max_parallel: int | None, retries: int | None, data: tuple[Path, ...], runs: Path, as_json: bool
) -> None:
    """Go on with a group: runs at work are taken over, those that wait begin, those left ungraded are graded."""
    from attrs import evolve

    from mlecore.cli.run import perform
    from mlecore.runs.store import open_group

    folder = group_folder(runs, name)
    plan = open_group(folder).plan
    plan = evolve(
        plan,
        max_parallel=plan.max_parallel if max_parallel is None else max_parallel,
        retries=plan.retries if retries is None else retries,
    )
    perform(plan, folder.name, folder.parent, data, as_json)


@command.command("retry")
@click.argument("names", nargs=-1, required=True, metavar="GROUP | GROUP/RUN...")
@runs_option
def retry(names: tuple[str, ...], runs: Path) -> None:
    """Begin runs anew that failed or were cancelled; of a group, all that failed. Results are never retried."""
    _request(names, runs, "retry", ("failed",), ("failed", "cancelled"))


@command.command("cancel")
@click.argument("names", nargs=-1, required=True, metavar="GROUP | GROUP/RUN...")
@runs_option
def cancel(names: tuple[str, ...], runs: Path) -> None:
    """End runs, or keep them from beginning. What they left is kept, but not graded."""
    open_states = ("planned", "starting", "running")
    _request(names, runs, "cancel", open_states, open_states)


def _request(
    names: tuple[str, ...], runs: Path, request: Any, of_group: tuple[str, ...], allowed: tuple[str, ...]
) -> None:
    """Leave requests with the controller of each group, or act where there is none."""
    from mlecore.runs.store import load_group

    wanted: dict[Path, list[RunRecord]] = {}
    for name in names:
        folder = runs / name if (runs / name).exists() else Path(name)
        if (folder / "plan.toml").is_file():
            records = [record for record in load_group(folder) if record.state in of_group]
            wanted.setdefault(folder, []).extend(records)
            continue
        record = one_run(runs, name)
        if record.state not in allowed:
            raise UsageError(
                f"{name} is {record.state}: only runs that are {' or '.join(allowed)} can be; see `runs show`"
            )
        wanted.setdefault(record.folder.parent, []).append(record)
    for folder, records in wanted.items():
        if not records:
            click.echo(f"{folder.name}: there is no such run", err=True)
        else:
            _hand_over(folder, records, request)


def _hand_over(folder: Path, records: list[RunRecord], request: Any) -> None:
    from mlecore.cli.run import perform
    from mlecore.runs import requests
    from mlecore.runs.lock import GroupLocked, holder
    from mlecore.runs.store import open_group

    for record in records:
        requests.leave(record.folder.parent, record.name, request)
    held = holder(folder)
    if held is None:
        only = frozenset(record.name for record in records)
        try:
            perform(open_group(folder).plan, folder.name, folder.parent, (), False, only, start_new=False)
        except GroupLocked:  # a controller came in between: it finds the requests
            held = holder(folder) or {}
    if held is not None:
        who = f"process {held.get('pid', '?')} on host {held.get('host', '?')}"
        click.echo(f"{folder.name}: asked its controller ({who}) to {request} {len(records)} runs", err=True)
    elif request == "retry":
        click.echo(f"They wait for: mlecore runs resume {folder.name}", err=True)


def group_folder(runs: Path, name: str) -> Path:
    """A group by name or path. Raises UsageError."""
    for folder in (runs / name, Path(name)):
        if folder.is_dir():
            return folder
    raise UsageError(f"there is no group {name!r} in {runs}", fix="To see them: mlecore runs list")


def one_run(runs: Path, name: str) -> RunRecord:
    """A run by GROUP/RUN or path; of a group of one run that group's name will do. Raises UsageError."""
    from mlecore.runs.store import is_group, open_group, planned_record, recover_record

    for folder in (runs / name, Path(name)):
        if is_group(folder):
            plan = open_group(folder).plan
            first = next(plan.runs()).name
            if len(plan) > 1:
                raise UsageError(f"{name} is a group of {len(plan)} runs; name one of them, such as {name}/{first}")
            folder /= first
        try:
            return recover_record(folder)[0]
        except (FileNotFoundError, NotADirectoryError):
            if is_group(folder.parent):
                group = open_group(folder.parent)
                for planned in group.plan.runs():
                    if planned.name == folder.name:
                        return planned_record(group, planned)
    raise UsageError(f"there is no run {name!r} in {runs}", fix="To see them: mlecore runs list GROUP")
