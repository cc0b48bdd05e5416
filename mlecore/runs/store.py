"""Groups of runs on disk: made, found, listed. Runs that have not begun have no folder; they are in the plan."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import secrets
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from attrs import evolve, field, frozen

from mlecore import files
from mlecore.errors import DataError, UsageError
from mlecore.registry.provenance import PluginUse
from mlecore.regular import read_regular
from mlecore.runs import cancelled
from mlecore.runs.digests import is_altered, with_digests
from mlecore.runs.folders import GROUP, PLAN, RECORD, inner_folders, is_group, is_run
from mlecore.runs.journal import now
from mlecore.runs.plan import Plan, PlannedRun
from mlecore.runs.planning import read_plan, write_plan
from mlecore.runs.record import WITH_OUTPUT, RecordError, RunRecord
from mlecore.runs.seals import seal
from mlecore.runs.waiting import read_reasons, with_reason
from mlecore.schema import LIMIT, NOT_IN_FILE, SchemaError, parse_json, plain, read_json, read_newer

_NAME = re.compile(r"\w[\w.@+-]{0,199}")  # commands that are printed hold it


@frozen(kw_only=True)
class GroupInfo:
    """Facts of a group, fixed when it is made."""

    format: int = 1  # of this file
    uid: str  # random; jobs are labelled with it
    name: str  # of the group's folder when it was made
    created_at: str  # ISO 8601, UTC
    data: tuple[str, ...] = ()  # data directories, so that resuming finds them
    plan: str = ""  # SHA-256 of plan.toml
    earlier_plans: tuple[str, ...] = ()  # SHA-256 of plan.toml before runs were added, oldest first
    seal: str = ""  # of who made it, on which machine and in which place; without the right one it is read-only
    plugins: tuple[PluginUse, ...] = ()  # of the competitions, which grade all of its runs
    extra: Mapping[str, Any] = field(factory=dict, metadata=NOT_IN_FILE)  # what a newer version wrote; kept


@frozen(kw_only=True)
class Group:
    """A group's folder with its plan."""

    folder: Path
    info: GroupInfo
    plan: Plan
    cancelled: frozenset[str] = frozenset()  # runs that were cancelled before they began, when it was opened

    @property
    def name(self) -> str:
        return self.folder.name


def create_group(
    runs: Path, name: str | None, plan: Plan, data: tuple[str, ...] = (), plugins: tuple[PluginUse, ...] = ()
) -> Group:
    """A new group's folder. Raises UsageError if the name is taken or is not a valid name."""
    if name is not None and not _NAME.fullmatch(name):
        raise UsageError(f"{name!r} cannot be a group's name", fix="Use letters, digits and . _ -; at most 200.")
    files.make_folder(runs)
    uid, content = secrets.token_hex(8), write_plan(plan).encode()
    stem = name or time.strftime("%Y%m%d-%H%M%S-") + plan.agents[0].label[:40]
    new = runs / f".{stem}.{uid}"  # complete before it gets its name: two commands may want the same one
    files.make_folder(new, exist_ok=False)
    try:
        files.replace(new / PLAN, content)
        for number in range(1, 1000):
            folder = runs / (stem if number == 1 else f"{stem}-{number}")
            info = GroupInfo(
                uid=uid,
                name=folder.name,
                created_at=now(),
                data=data,
                plan=hashlib.sha256(content).hexdigest(),
                seal=seal(uid, folder),
                plugins=plugins,
            )
            write_info(new, info)
            try:
                files.rename(new, folder)
                return Group(folder=folder, info=info, plan=plan)
            except OSError as error:
                if error.errno not in (errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR):
                    raise
            if name is not None:
                raise UsageError(
                    f"the group {name} already exists in {runs}",
                    fix=f"Use another name, or: mlecore runs resume {name}",
                )
    except BaseException:
        files.remove(new)
        raise
    raise UsageError(f"{runs} has too many groups named {stem}", fix="Name the group: --group NAME")


def write_info(folder: Path, info: GroupInfo) -> None:
    """A group's group.json."""
    files.replace(folder / GROUP, (json.dumps(plain(info), indent=1) + "\n").encode())


def open_group(folder: Path) -> Group:
    """A group with its plan. Raises UsageError if there is none, DataError if its files are damaged."""
    if not folder.is_dir():
        raise UsageError(f"there is no group {folder.name} in {folder.parent}", fix="To see them: mlecore runs list")
    try:
        info = read_newer(GroupInfo, folder / GROUP, below=folder)
    except FileNotFoundError:
        raise DataError(
            f"{folder} has no {GROUP}: it is not a group, or its making was interrupted",
            fix="Remove the folder, or use another name.",
        ) from None
    except OSError as error:
        raise DataError(f"{folder / GROUP} cannot be read: {error}") from None
    try:
        plan = read_plan(folder / PLAN, below=folder)
        runs = cancelled.read_cancelled(folder)
    except UsageError as error:
        raise DataError(error.message, fix=error.fix) from None
    except OSError as error:
        raise DataError(f"{folder} cannot be read: {error}") from None
    return Group(folder=folder, info=info, plan=plan, cancelled=runs)


def require_group(group: Group) -> None:
    """For use before writing to its folder: raises OSError if it is missing, or another folder is in its place.

    An unmounted disk uncovers what is below its mount point.
    """
    try:
        there = read_json(group.folder / GROUP)
    except SchemaError as error:
        raise OSError(errno.EIO, error.message, str(group.folder)) from None
    if not isinstance(there, dict) or there.get("uid") != group.info.uid:
        raise OSError(errno.ESTALE, f"another folder has replaced the group {group.info.uid}", str(group.folder))


def read_record(folder: Path) -> RunRecord:
    """The record of a run's folder. Raises RecordError (damaged) and OSError."""
    return _read(folder / RECORD, folder)


def _read(path: Path, folder: Path) -> RunRecord:
    try:
        content = read_regular(path, LIMIT, below=folder.parent)
        values = parse_json(content)
        return evolve(RunRecord.from_json(values, folder), altered=is_altered(content, values))
    except DataError as error:
        raise RecordError(f"{path}: {error.message}", fix=error.fix) from None


def recover_record(folder: Path) -> tuple[RunRecord, str]:
    """The record, and a remark if it is the previous one.

    Every step can be repeated, so the previous record is enough. Raises RecordError if neither can be read,
    FileNotFoundError where neither is there.
    """
    try:
        return read_record(folder), ""
    except (RecordError, FileNotFoundError) as error:
        try:
            record = _read(files.previous(folder / RECORD), folder)
        except FileNotFoundError:
            raise error from None
        why = error.message if isinstance(error, RecordError) else f"{folder.name}/{RECORD} is gone"
        return record, f"{why}; going on from the record before it ({record.state})"


def write_record(record: RunRecord) -> RunRecord:
    """Durably; the folder must be there. Returns what was written: the record with its digests."""
    with rewriting(record.folder):
        record = with_digests(_judged(record))
        replace_record(record)
    return record


@contextmanager
def rewriting(folder: Path) -> Iterator[None]:
    """Keeps the others out that change this run's record: its controller and `mlecore detect`.

    Where the system cannot lock a folder (NFS), nobody is kept out.
    """
    import fcntl

    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def replace_record(record: RunRecord) -> None:
    """Write a record as it is, durably; for whoever is ``rewriting`` it."""
    files.replace(record.folder / RECORD, record.dumps(), keep_previous=True)


def _judged(record: RunRecord) -> RunRecord:
    """With the digests of what `mlecore detect` found while a controller held the record."""
    if record.digests is None or record.state not in WITH_OUTPUT:
        return record
    try:
        last = read_record(record.folder)
    except (RecordError, FileNotFoundError):
        return record
    if last.digests is None or last.altered or last.state not in WITH_OUTPUT:
        return record
    digests = evolve(record.digests, record=last.digests.record, findings=last.digests.findings)
    return evolve(record, digests=digests)


def _read_group(folder: Path, problems: list[str]) -> list[RunRecord]:
    """Every run of a group, also those that have not begun. Never raises for one damaged run."""
    group = open_group(folder) if is_group(folder) else None
    found: dict[str, RunRecord | None] = {}
    for name in inner_folders(folder):
        try:
            record = read_record(folder / name)
        except FileNotFoundError:
            continue  # a request for a run that has not begun, or not a run
        except (RecordError, OSError) as error:
            problems.append(f"{folder.name}: {error}")
            found[name] = None
            continue
        if group and record.group_uid != group.info.uid:
            problems.append(f"{folder.name}: {name} belongs to another group ({record.group})")
        elif record.name != name and group:
            problems.append(f"{folder.name}: {name} is a copy of the run {record.name}")
        else:
            found[name] = record
    if group is None:
        return [record for record in found.values() if record]
    records, reasons = [], read_reasons(folder)
    for planned in group.plan.runs():
        there = found.pop(planned.name) if planned.name in found else planned_record(group, planned)
        if there is not None:
            records.append(with_reason(there, reasons))
    problems += [f"{folder.name}: {name} is not in the plan" for name, record in found.items() if record]
    return records


def planned_records(group: Group) -> Iterator[RunRecord]:
    """A record for each run of the plan, as it is before the run begins."""
    for run in group.plan.runs():
        yield planned_record(group, run)


def planned_record(group: Group, run: PlannedRun) -> RunRecord:
    """A run's record before it begins."""
    plan, info = group.plan, group.info
    is_cancelled = run.name in group.cancelled
    return RunRecord(
        uid=run.uid(info.uid),
        name=run.name,
        group=group.name,
        group_uid=info.uid,
        folder=group.folder / run.name,
        competition=run.competition,
        edition=plan.data.edition,
        obfuscation=plan.data.obfuscate,
        data_kind="synthetic" if plan.data.synthetic else None,
        agent=PluginUse(name=run.agent.name, options=run.agent.options),
        label=run.agent.label,
        backend=PluginUse(name=plan.backend.name, options=plan.backend.options),
        seed=run.seed,
        model=run.agent.model,
        endpoint=run.agent.endpoint,
        limits=plan.limits_of(run.agent),
        created_at=info.created_at,
        state="cancelled" if is_cancelled else "planned",
        reason=cancelled.REASON if is_cancelled else "",
    )


def load_group(path: Path, problems: list[str] | None = None) -> list[RunRecord]:
    """Records of all runs in a group's folder (or of one run's folder); what cannot be read goes to ``problems``."""
    if is_run(path):
        return [read_record(path)]
    if not path.is_dir():
        raise UsageError(f"there is no group {path}", fix="To see them: mlecore runs list")
    return _read_group(path, [] if problems is None else problems)


def grade_of(folder: Path) -> dict[str, Any] | None:
    """grade.json of a run, if it is there and whole."""
    return read_grade(folder)[0]


def read_grade(folder: Path) -> tuple[dict[str, Any] | None, str]:
    """The same, and its SHA-256."""
    try:
        content = read_regular(folder / "grade.json", LIMIT, below=folder.parent)
        value = parse_json(content)
    except (OSError, DataError):
        return None, ""
    return value if isinstance(value, dict) else None, hashlib.sha256(content).hexdigest()
