"""Checks that a group, or an export of it, is whole and as it was written."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

from attrs import field, frozen

from mle_ext_sharing.bundle import Bundle
from mlecore.errors import DataError
from mlecore.model.record import RunRecord
from mlecore.runs.digests import changed_output, is_own, problems
from mlecore.runs.findings import read_findings
from mlecore.runs.folders import PLAN, RECORD
from mlecore.runs.journal import EVENTS, Journal
from mlecore.runs.ownership import is_own_plan
from mlecore.runs.snapshots import HISTORY
from mlecore.runs.store import Group, load_group, open_group
from mlecore.util.regular import read_regular
from mlecore.util.schema import LIMIT, SchemaError, parse_json
from mlecore.util.units import counted

_NAMED = 3  # runs that a message names


@frozen(kw_only=True)
class Verdict:
    """The findings, in words: ``wrong`` is not as it was written, ``undecided`` cannot be checked."""

    runs: int = 0  # that have a record
    not_started: int = 0  # planned ones that have none yet
    cancelled: int = 0  # before they began
    wrong: list[str] = field(factory=list)
    undecided: list[str] = field(factory=list)

    def __str__(self) -> str:
        parts = [counted(self.runs, "run")]
        parts += [f"{self.not_started} planned that had not started"] if self.not_started else []
        parts += [f"{self.cancelled} cancelled before they began"] if self.cancelled else []
        return ", ".join(parts)


def not_started(group: Group) -> frozenset[str] | None:
    """Planned runs that have not begun, by the group's journal; None if it has none."""
    started = Journal(group.folder).started()
    if started is None:
        return None
    return frozenset(run.name for run in group.plan.runs()) - started - group.cancelled


def verify_group(folder: Path, exported: Bundle | None = None) -> Verdict:
    """Compare a group's folder with its plan, its journal and the digests of its files.

    ``exported``: the bundle that the folder was exported as; its files have been compared with its list. Raises
    UsageError, DataError if the folder is no group, or its plan cannot be read.
    """
    group = open_group(folder)
    wrong, undecided = [], []
    started = None if exported else Journal(folder).started()
    if not exported and started is None:
        undecided.append(
            f"there is no bundle.json, which `mlecore runs export` writes, and no {EVENTS}, which is written where a "
            "group runs: whether files were removed cannot be seen"
        )
    if not is_own_plan(group):
        wrong.append(f"{PLAN} is not the one that the group was created with")
    records = load_group(folder, wrong)
    present = [record for record in records if (record.folder / RECORD).is_file()]
    absent = [record for record in records if not (record.folder / RECORD).is_file()]
    for record in present:
        wrong += [f"{record.name}: {problem}" for problem in _problems(record, started is None)]
    cancelled = sum(record.state == "cancelled" for record in absent)
    missing = [record.name for record in absent if record.state != "cancelled"]
    if exported:
        waiting: Collection[str] | None = exported.not_started
    else:
        waiting = None if started is None else set(missing) - started
    if waiting is None and missing:
        shown = ", ".join(missing[:_NAMED]) + (" ..." if len(missing) > _NAMED else "")
        undecided.append(
            f"{len(missing)} of {counted(len(group.plan), 'planned run')} have no record, and nothing tells whether "
            f"they had started: {shown}"
        )
    elif waiting is not None:
        wrong += [f"{name}: had started, and its record is missing" for name in missing if name not in waiting]
    return Verdict(
        runs=len(present),
        not_started=sum(name in (waiting or ()) for name in missing),
        cancelled=cancelled,
        wrong=[f"{group.name}: {line.removeprefix(f'{group.name}: ')}" for line in wrong],
        undecided=[f"{group.name}: {line}" for line in undecided],
    )


def _problems(record: RunRecord, exported: bool) -> Iterator[str]:
    if record.digests is None:
        yield "its record has no digests, so that changes cannot be seen"
    yield from problems(record)
    yield from changed_output(record, exported=exported)
    yield from (message.removeprefix(f"{record.folder}/") for message in read_findings(record)[1].values())
    try:
        content = read_regular(record.folder / HISTORY, LIMIT, below=record.folder.parent)
        values = parse_json(content)
        if not isinstance(values, dict) or not is_own(content, str(values.get("digest"))):
            yield f"{HISTORY} was changed after it was written"
    except FileNotFoundError:
        return
    except (OSError, DataError, SchemaError) as error:
        yield f"{HISTORY} cannot be read: {error}"
