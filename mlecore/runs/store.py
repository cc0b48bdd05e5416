"""Creates, finds and lists groups of runs on disk. Runs that have not begun have no folder; they are in the plan."""

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

from mlecore.errors import DataError, UsageError
from mlecore.model.plan import Plan, PlannedRun
from mlecore.model.provenance import PluginUse
from mlecore.model.record import WITH_OUTPUT, RecordError, RunRecord
from mlecore.runs import cancelled
from mlecore.runs.digests import is_altered, with_digests
from mlecore.runs.folders import GROUP, PLAN, RECORD, inner_folders, is_group, is_run
from mlecore.runs.journal import now
from mlecore.runs.planning import read_plan, write_plan
from mlecore.runs.seals import seal
from mlecore.runs.waiting import read_reasons, with_reason
from mlecore.util import files
from mlecore.util.regular import read_regular
from mlecore.util.schema import LIMIT, NOT_IN_FILE, SchemaError, parse_json, plain, read_json, read_newer

_NAME = re.compile(r"\w[\w.@+-]{0,199}")  # safe in a printed command


@frozen(kw_only=True)
class GroupInfo:
    """Facts of a group, fixed when it is created."""

    format: int = 1  # of this file
    uid: str  # random; jobs are labelled with it
    name: str  # of the group's folder when it was created
    created_at: str  # ISO 8601, UTC
    data: tuple[str, ...] = ()  # data directories, so that resuming finds them
    plan: str = ""  # SHA-256 of plan.toml
    earlier_plans: tuple[str, ...] = ()  # SHA-256 of plan.toml before runs were added, oldest first
    seal: str = ""  # of its owner, machine and path; without the right one it is read-only
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


def new_uid() -> str:
    """For a group."""
    return secrets.token_hex(8)


def create_group(
    runs: Path,
    name: str | None,
    plan: Plan,
    data: tuple[str, ...] = (),
    plugins: tuple[PluginUse, ...] = (),
    uid: str = "",
) -> Group:
    """A new group's folder. Raises UsageError if the name is taken or is not a valid name."""
    if name is not None and not _NAME.fullmatch(name):
        raise UsageError(f"{name!r} cannot be a group's name", fix="Use letters, digits and . _ -; at most 200.")
    files.make_folder(runs)
    uid, content = uid or new_uid(), write_plan(plan).encode()
    stem = name or time.strftime("%Y%m%d-%H%M%S-") + plan.agents[0].label[:40]
    new = runs / f".{stem}.{uid}"  # complete before it gets its name, which another command may want too
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
    """Write group.json."""
    files.replace(folder / GROUP, (json.dumps(plain(info), indent=1) + "\n").encode())


def open_group(folder: Path) -> Group:
    """A group with its plan. Raises UsageError if there is none, DataError if its files are damaged."""
    if not folder.is_dir():
        raise UsageError(f"there is no group {folder.name} in {folder.parent}", fix="To see them: mlecore runs list")
    try:
        info = read_newer(GroupInfo, folder / GROUP, below=folder)
    except FileNotFoundError:
        raise DataError(
            f"{folder} has no {GROUP}: it is not a group, or its creation was interrupted",
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
    """Call this before writing to its folder. Raises OSError if that is missing or replaced by another one.

    When a disk is unmounted, the folder below its mount point appears.
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
    FileNotFoundError if neither exists.
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
    """Write a record durably to its existing folder. Returns the written record, with its digests."""
    with rewriting(record.folder):
        record = with_digests(_judged(record))
        replace_record(record)
    return record


@contextmanager
def rewriting(folder: Path) -> Iterator[None]:
    """Excludes the other writers of this run's record: its controller and `mlecore detect`.

    Has no effect if the system cannot lock a folder (NFS).
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
    """Write a record as it is, durably. Call it within ``rewriting``."""
    files.replace(record.folder / RECORD, record.dumps(), keep_previous=True)


def _judged(record: RunRecord) -> RunRecord:
    """The record with digests of findings that `mlecore detect` wrote while a controller held it."""
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
    """Every run of a group, including those that have not begun. A damaged run raises nothing."""
    group = open_group(folder) if is_group(folder) else None
    found: dict[str, RunRecord | None] = {}
    for name in inner_folders(folder):
        try:
            record = read_record(folder / name)
        except FileNotFoundError:
            continue  # not a run, or only a request for one that has not begun
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
    """The records of all runs of the plan before they begin."""
    for run in group.plan.runs():
        yield planned_record(group, run)


def planned_record(group: Group, run: PlannedRun) -> RunRecord:
    """The record of a run before it begins."""
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
    """Records of all runs in a group's folder (or of one run's folder). Adds unreadable ones to ``problems``."""
    if is_run(path):
        return [read_record(path)]
    if not path.is_dir():
        raise UsageError(f"there is no group {path}", fix="To see them: mlecore runs list")
    return _read_group(path, [] if problems is None else problems)


def grade_of(folder: Path) -> dict[str, Any] | None:
    """The content of grade.json, or None if it is missing or damaged."""
    return read_grade(folder)[0]


def read_grade(folder: Path) -> tuple[dict[str, Any] | None, str]:
    """The same, with the SHA-256 of the file."""
    try:
        content = read_regular(folder / "grade.json", LIMIT, below=folder.parent)
        value = parse_json(content)
    except (OSError, DataError):
        return None, ""
    return value if isinstance(value, dict) else None, hashlib.sha256(content).hexdigest()
