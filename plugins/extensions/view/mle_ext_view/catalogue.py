"""All groups and their runs, as far as they have been read. A refresh reads what has changed."""

from __future__ import annotations

import itertools
import os
import threading
from collections import Counter
from datetime import datetime
from pathlib import Path

from attrs import evolve

from mlecore.controller.watching import Running, time_left
from mlecore.errors import MlecoreError
from mlecore.model.plan import PlannedRun
from mlecore.model.record import SETTLED, STATES, RecordError, RunRecord
from mlecore.runs.cancelled import CANCELLED
from mlecore.runs.folders import GROUP, PLAN, is_group
from mlecore.runs.lock import holder
from mlecore.runs.store import Group, open_group, planned_record
from mlecore.runs.waiting import Reasons, read_reasons, with_reason

from .places import Missing, child
from .rows import Row, Stamp, file_stamp, read_row, stamp

_PAIRS = 200  # of runs of a group


class Runs:
    """The runs of one group, in the order of its plan."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.group: Group | None = None  # None: its files are damaged
        self.problems: list[str] = []
        self.rows: dict[str, Row] = {}
        self.version = 0  # another one when anything has changed
        self.controlled = False
        self._planned: dict[str, PlannedRun] = {}
        self._group_problems: list[str] = []
        self._stamps: dict[str, Stamp] = {}
        self._damaged: dict[str, str] = {}
        self._of_group: Stamp | None = None
        self._reasons: Reasons = {}
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        return self.folder.name

    def look(self) -> Runs:
        """Read what has changed since the last look."""
        with self._lock:
            self._look()
        return self

    def row(self, name: str) -> Row:
        """One run, as it is now. Raises Missing."""
        with self._lock:
            self._open()
            if name not in self._planned or (self.folder / name).is_dir():
                self._read(name, str(child(self.folder, name)))
            if name in self._damaged:
                raise Missing(f"the record of {name} cannot be read: {self._damaged[name]}")
            row = self.rows.get(name)
            if row is None and self.group is not None and name in self._planned:
                row = _planned(self.group, self._planned[name])
            if row is None:
                raise Missing(f"there is no run {name[:200]!r} in {self.name}")
            return evolve(row, record=with_reason(row.record, read_reasons(self.folder)))

    def _look(self) -> None:
        self._open()
        with os.scandir(self.folder) as entries:
            folders = {entry.name: entry.path for entry in entries if _is_run(entry)}
        for gone in self._stamps.keys() - folders.keys():
            self.version += 1
            del self._stamps[gone]
            self.rows.pop(gone, None)
            self._damaged.pop(gone, None)
        for name in sorted(folders):
            self._read(name, folders[name])
        self._plan()
        reasons, controlled = read_reasons(self.folder), bool(holder(self.folder))
        if (reasons, controlled) != (self._reasons, self.controlled):
            self._reasons, self.controlled = reasons, controlled
            self.version += 1
        self.problems = [*self._group_problems, *self._unplanned()]
        self.problems += [f"{name}: {why}" for name, why in sorted(self._damaged.items())]
        self.problems += [f"{name}: {row.remark}" for name, row in self.rows.items() if row.remark]

    def _open(self) -> None:
        now = tuple(file_stamp(f"{self.folder}/{name}") for name in (GROUP, PLAN, CANCELLED))
        if now == self._of_group:
            return
        self._of_group, self._group_problems = now, []
        try:
            self.group = open_group(self.folder)
        except MlecoreError as error:
            self.group, self._group_problems = None, [error.message]
        self.version += 1
        self._planned = {run.name: run for run in self.group.plan.runs()} if self.group else {}
        self.rows = {name: row for name, row in self.rows.items() if name in self._stamps}

    def _plan(self) -> None:
        """Rows for runs that have no record, and all rows in the order of the plan."""
        group = self.group
        if group is None or list(self.rows) == [name for name in self._planned if name not in self._damaged]:
            return
        read = self.rows
        self.rows = {
            name: read.pop(name) if name in read else _planned(group, run)
            for name, run in self._planned.items()
            if name in read or name not in self._damaged
        } | read

    def _read(self, name: str, path: str) -> None:
        now = stamp(path)
        if self._stamps.get(name) == now:
            return
        self._stamps[name] = now
        self.version += 1
        self._damaged.pop(name, None)
        self.rows.pop(name, None)
        try:
            row = read_row(Path(path))
        except FileNotFoundError:
            return  # a request for a run that has not begun, or no run
        except (RecordError, OSError) as error:
            self._damaged[name] = str(error)
            return
        if self.group is not None and row.record.group_uid != self.group.info.uid:
            self._damaged[name] = f"it belongs to another group ({row.record.group})"
        elif row.record.name != name:
            self._damaged[name] = f"it is a copy of the run {row.record.name}"
        else:
            self.rows[name] = row

    def _unplanned(self) -> list[str]:
        if self.group is None:
            return []
        return [f"{name} is not in the plan" for name in self.rows if name not in self._planned]

    def with_reasons(self) -> list[Row]:
        """All rows, each with the reason for which it waits."""
        return [
            evolve(row, record=with_reason(row.record, self._reasons)) if self._reasons else row
            for row in self.rows.values()
        ]

    def pairs(self) -> list[tuple[str, str]]:
        """Names of runs on the same competition with the same seed, the first ones."""
        found: dict[tuple[str, int], list[str]] = {}
        for row in self.rows.values():
            found.setdefault((row.record.competition, row.record.seed), []).append(row.record.name)
        each = (pair for names in found.values() for pair in itertools.combinations(names, 2))
        return list(itertools.islice(each, _PAIRS))

    @property
    def states(self) -> dict[str, int]:
        """State -> runs, in the order of a run's life."""
        counts = Counter[str](row.record.state for row in self.rows.values())
        return {state: counts[state] for state in STATES if counts[state]}

    @property
    def settled(self) -> int:
        return sum(row.record.state in SETTLED for row in self.rows.values())

    def time_left(self, now: datetime) -> tuple[float | None, float] | None:
        """Seconds to the end: expected, None as long as no run has ended, and at most. None: all have ended."""
        if self.group is None or self.settled == len(self.rows):
            return None
        records = [row.record for row in self.rows.values()]
        running = [_running(record, record.elapsed(now) or 0.0) for record in records if record.state == "running"]
        return time_left(records, running, self.group.plan.execution.max_parallel or max(1, len(running)))


def _planned(group: Group, run: PlannedRun) -> Row:
    record = planned_record(group, run)
    return Row(record=record)


def _running(record: RunRecord, used: float) -> Running:
    """What a forecast needs to know of an active run."""
    return Running(
        run=record.name,
        agent=record.label,
        competition=record.competition,
        seed=record.seed,
        used=used,
        left=max(0.0, record.limits.time - used),
        last_line="",
        calls=None,
        tokens=None,
        cost_usd=None,
        snapshots=None,
    )


class Catalogue:
    """All groups of a runs folder."""

    def __init__(self, runs: Path) -> None:
        self.runs = runs
        self._groups: dict[str, Runs] = {}
        self._lock = threading.Lock()

    def group(self, name: str) -> Runs:
        """Raises Missing."""
        folder = child(self.runs, name)
        if not is_group(folder):
            raise Missing(f"{name} is not a group: it has no {GROUP}")
        with self._lock:
            return self._groups.setdefault(name, Runs(folder))

    def look(self) -> list[Runs]:
        """All groups, after a look at each."""
        return [runs.look() for runs in self.groups()]

    def groups(self) -> list[Runs]:
        """Those of the folder, the newest first."""
        found = []
        with os.scandir(self.runs) as entries:
            names = [entry.name for entry in entries if _is_run(entry)]
        for name in names:
            try:
                found.append(self.group(name))
            except Missing:
                continue
        with self._lock:
            for gone in self._groups.keys() - set(names):
                del self._groups[gone]
        return sorted(found, key=lambda runs: (_created(runs.folder), runs.name), reverse=True)


def _created(folder: Path) -> int:
    found = file_stamp(f"{folder}/{PLAN}")
    return found[2] if found else 0


def _is_run(entry: os.DirEntry[str]) -> bool:
    return not entry.name.startswith(".") and entry.is_dir(follow_symlinks=False)
