"""`mlecore runs show`: one run in full."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from mlecore.cli.names import RUN
from mlecore.cli.runs._names import one_run
from mlecore.cli.shared import echo, json_option, print_json, record_json, runs_option

if TYPE_CHECKING:
    from mlecore.model.backends import Sandbox
    from mlecore.model.record import Availability, RunRecord


@click.command("show")
@click.argument("name", type=RUN, metavar="GROUP/RUN")
@runs_option
@json_option
def command(name: str, runs: Path, as_json: bool) -> None:
    """Show one run: record, hardware, events and files."""
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
        echo(f"  {_moment(event.get('at'))}  {event.get('event')} {details}".rstrip())
    click.secho("\nfiles", bold=True)
    from mlecore.util.units import show_size

    for path, size in list(there.items())[:200]:
        echo(f"  {show_size(size):>9}  {path}")
    if len(there) > 200:
        echo(f"  ... {len(there) - 200} more below {record.folder}")


def _data(record: RunRecord) -> str:
    return f", {record.data_kind} data" if record.data_kind in ("synthetic", "unverified") else ""


def _hardware(record: RunRecord) -> str:
    """Such as "2 CPUs (Intel Xeon), 25.3 GB of memory, 2 x NVIDIA H100, Linux 6.1"."""
    from collections import Counter

    from mlecore.util.units import show_size

    found = record.hardware
    cpus = f"{found.cpus:g} CPUs" if found.cpus else ""
    memory = f"{show_size(found.memory)} of memory" if found.memory else ""
    gpus = [f"{number} x {name}" if number > 1 else name for name, number in Counter(found.gpus).items()]
    return ", ".join(filter(None, (cpus, found.cpu, memory, *gpus, found.kernel)))


def _moment(text: str | None) -> str:
    """A record's time to the second, as people read it."""
    from mlecore.model.record import moment

    found = moment(text)
    return f"{found:%Y-%m-%d %H:%M:%S} UTC" if found else text or ""


def _show_record(record: RunRecord) -> None:
    from mlecore.controller.display import graded_words
    from mlecore.model.record import OBFUSCATED
    from mlecore.util.units import show_duration, show_size

    limits, collected = record.limits, record.collected
    options = " ".join(f"{name}={value}" for name, value in record.agent.options.items())
    lines = {
        "run": f"{record.group}/{record.name} ({record.uid})",
        "result": graded_words(record.report, whole=True) if record.report else "",
        "state": f"{record.state}{f', {record.ended}' if record.ended else ''}",
        "reason": record.reason,
        "outcome": f"{record.outcome}, as reported by the agent" if record.outcome else "",
        "time used": "" if record.seconds is None else show_duration(record.seconds),
        "agent": f"{record.agent.name} {record.agent.version} {record.agent.source[:12]} {options}".strip(),
        "model": f"{record.model or ''} {record.endpoint or ''}".strip(),
        "competition": f"{record.competition} {record.edition}{_data(record)}",
        "hidden": OBFUSCATED[record.obfuscation] and f"which competition this is ({OBFUSCATED[record.obfuscation]})",
        "seed": str(record.seed),
        "backend": f"{record.backend.name} {record.backend.version}".strip(),
        "sandbox": _sandbox_words(record.sandbox),
        "limits": " ".join(
            [
                f"time={show_duration(limits.time)}",
                f"network={record.network}",
                *([f"cpus={limits.cpus:g}"] if limits.cpus else []),
                *([f"memory={show_size(limits.memory)}"] if limits.memory else []),
                *([f"gpus={limits.gpus}"] if limits.gpus else []),
                *([f"disk={show_size(limits.disk)}"] if limits.disk else []),
            ]
        ),
        "hardware": _hardware(record),
        "usage": _usage_words(record),
        "relay": ", ".join(f"{host} rejected {times} times" for host, times in record.relay_refused.items()),
        "checks": f"{record.checks}, as reported by the sandbox" if collected else "",
        "collected": f"{collected.files} files, {show_size(collected.bytes)}" if collected else "",
    }
    for name, value in lines.items():
        if value:
            echo(f"{name + ':':13}{value}")
    for refused in collected.refused if collected else ():
        echo(f"{'rejected:':13}{refused}")
    for replaced in record.forced:
        result = " ".join(filter(None, (replaced.status, replaced.score))) or "not known"
        echo(f"{'replaced:':13}by hand at {replaced.at}; the result was: {result}; kept in {replaced.kept}")
    for attempt in record.attempts:
        doubt = " (in doubt: retried once at most)" if attempt.in_doubt else ""
        how = f"{attempt.ended or record.state}{doubt} {attempt.reason}".strip()
        started = f"started {_moment(attempt.started_at)}, " if attempt.started_at else ""
        echo(f"{f'attempt {attempt.number}:':13}{attempt.job}, {started}{how}")
        if attempt.availability and attempt.availability.failed:
            echo(f"{'':13}{_availability_words(attempt.availability)}")


def _availability_words(found: Availability) -> str:
    from mlecore.util.units import show_duration

    words = f"{found.tried} model calls, {found.answered} answered, {found.failed} failed because of the endpoint"
    when = ", the last one too" if found.failed_last else ""
    return f"{words}{when}, for {show_duration(found.failing_seconds)} in all; last error: {found.last_error}"


def _usage_words(record: RunRecord) -> str:
    usage, calls = record.usage, record.calls
    if usage is None:
        return ""
    known = usage.input_tokens is not None or usage.output_tokens is not None
    words = [f"{usage.input_tokens} tokens in, {usage.output_tokens} out" if known else "tokens unknown"]
    words += [f"about {usage.estimated_tokens}{' more' if known else ''}, estimated"] if usage.estimated_tokens else []
    words += [] if usage.cost_usd is None else [f"{usage.cost_usd:.4f} usd"]
    words.append("measured by the gateway" if usage.measured else "as reported by the agent's logs")
    if calls is not None:
        words.append(f"{calls.calls} calls, {calls.refused} rejected, {calls.failed} failed")
        words += [f"{calls.unknown} of unknown usage"] if calls.unknown else []
        words += [f"not in the plan: {use.model}" for use in calls.models if use.unplanned]
        words += [f"{use.tool} at the provider: {_times(use.uses)}" for use in calls.server_tools]
        words += [f"the budget of {calls.exhausted} was used up at {calls.exhausted_at}"] if calls.exhausted else []
    return "; ".join(words + ([record.usage_difference] if record.usage_difference else []))


def _times(uses: int | None) -> str:
    return "used an unknown number of times" if uses is None else f"used {uses} times"


def _sandbox_words(sandbox: Sandbox | None) -> str:
    if sandbox is None:
        return ""
    limits = ", ".join(f"{name} {limit.level}" for name, limit in sandbox.limits().items())
    return f"{sandbox.isolation or 'no isolation'}; {limits}"


def _files(folder: Path) -> dict[str, int]:
    if not folder.is_dir():
        return {}
    found = (path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink())
    return {path.relative_to(folder).as_posix(): path.stat().st_size for path in found}
