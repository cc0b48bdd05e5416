"""An active group, seen from outside: what has ended, what is running, how long it will take. Changes nothing."""

from __future__ import annotations

import math
import re
import statistics
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from attrs import frozen

from mlecore.controller.collect import MAX_SNAPSHOTS
from mlecore.controller.display import last_line
from mlecore.errors import MlecoreError
from mlecore.model.backends import Backend, Handle
from mlecore.model.record import SETTLED, RunRecord
from mlecore.plugins.opening import open_backend
from mlecore.runs.lock import holder
from mlecore.runs.measured import spent_in
from mlecore.runs.secrets import search
from mlecore.runs.store import load_group, open_group
from mlecore.util.scratch import scratch
from mlecore.util.units import show_duration
from mlecore_jobs.fetching import GATEWAY_LOG

_SNAPSHOTS = ".mlecore/snapshots/*.csv"
_MOST_LOG = 256 << 20  # bytes of a gateway's log
_TAIL = 4096  # bytes of output that are kept
_MORE = re.compile(r"and (\d+) more")
_WAITING = ("planned", "starting", "waiting")
_COUNTED = (*_WAITING, "running", "collecting", "collected", *SETTLED)


@frozen(kw_only=True)
class Running:
    """One run whose agent is at work. None: it is not known."""

    run: str
    agent: str  # its label
    competition: str
    seed: int
    used: float  # seconds since its attempt began
    left: float  # seconds to its limit
    last_line: str  # that the agent printed
    calls: int | None  # of models, by its gateway's count
    tokens: int | None  # in and out
    cost_usd: float | None
    snapshots: int | None  # of its submission, so far
    why: str = ""  # the backend does not say more


@frozen(kw_only=True)
class View:
    """A group at one moment."""

    group: str
    agents: Mapping[str, Mapping[str, int]]  # label -> state -> runs
    waiting: Mapping[str, int]  # why runs have not begun -> how many
    outcomes: Mapping[str, int]  # how agents say they ended -> how many
    running: tuple[Running, ...]
    seconds_to_end: float | None  # from the times of runs that have ended; None: none has
    at_most: float  # seconds to the end, if every run takes its whole limit
    at_once: int  # runs, for both
    controlled: bool  # does a controller work on it
    problems: tuple[str, ...]  # records that cannot be read

    @property
    def ended(self) -> bool:
        return not any(state not in SETTLED for states in self.agents.values() for state in states)

    @property
    def remaining(self) -> str:
        """The time to the end, in words."""
        if self.ended:
            return "all have ended"
        expected = "not known yet" if self.seconds_to_end is None else f"about {show_duration(self.seconds_to_end)}"
        return f"time to the end: {expected}, at most {show_duration(self.at_most)} with {self.at_once} at once"


class Watcher:
    """Looks at a group again and again. Remembers how far it has read each output."""

    def __init__(self, folder: Path) -> None:
        """Raises DataError for a folder that is no group."""
        self.folder = folder
        self.plan = open_group(folder).plan
        self._backend: Backend | None = None
        self._outputs: dict[str, tuple[int, bytes]] = {}  # job -> bytes read, the last of them

    def look(self) -> View:
        """The group now. What the backend does not say is left out, with the reason."""
        problems: list[str] = []
        records = load_group(self.folder, problems)
        agents: dict[str, Counter[str]] = defaultdict(Counter)
        for record in records:
            agents[record.label][record.state] += 1
        running = tuple(self._running(record) for record in records if record.state == "running")
        at_once = self.plan.execution.max_parallel or max(1, len(running))
        expected, at_most = time_left(records, running, at_once)
        return View(
            group=self.folder.name,
            agents={
                label: {state: states[state] for state in _COUNTED if states[state]} for label, states in agents.items()
            },
            waiting=Counter(record.reason for record in records if record.state in _WAITING and record.reason),
            outcomes=Counter(record.outcome.meaning for record in records if record.outcome),
            running=running,
            seconds_to_end=expected,
            at_most=at_most,
            at_once=at_once,
            controlled=bool(holder(self.folder)),
            problems=tuple(problems),
        )

    def _running(self, record: RunRecord) -> Running:
        attempt = record.attempt
        line, spent, snapshots, why = "", None, None, record.reason
        try:
            if attempt and attempt.handle and record.own_jobs:
                line = self._last_line(record, attempt.handle)
                spent, snapshots = self._counted(record, attempt.handle)
        except (MlecoreError, OSError) as error:
            why = str(error).splitlines()[0]
        used = record.elapsed(datetime.now(UTC)) or 0.0
        return Running(
            run=record.name,
            agent=record.label,
            competition=record.competition,
            seed=record.seed,
            used=used,
            left=max(0.0, record.limits.time - used),
            last_line=line,
            calls=None if spent is None else int(spent.get("calls", 0)),
            tokens=None if spent is None else int(spent.get("tokens", 0)),
            cost_usd=None if spent is None else spent.get("usd", 0.0),
            snapshots=snapshots,
            why=why,
        )

    def _open(self, record: RunRecord) -> Backend:
        if self._backend is None:
            self._backend = open_backend(record.backend.name, record.backend.options).backend
        return self._backend

    def _last_line(self, record: RunRecord, handle: Handle) -> str:
        read, tail = self._outputs.get(handle.name, (0, b""))
        for chunk in self._open(record).logs(handle, read):
            read += len(chunk)
            tail = (tail + chunk)[-_TAIL:]
        self._outputs[handle.name] = (read, tail)
        secrets, _ = search(record.folder, record.secrets)
        return last_line(b"".join(secrets.masked([tail])))

    def _counted(self, record: RunRecord, handle: Handle) -> tuple[Mapping[str, float] | None, int]:
        """What its gateway has counted, None without one; and how many snapshots there are."""
        backend, spent = self._open(record), None
        with scratch() as folder:
            if record.access is not None:
                backend.fetch(handle, [str(GATEWAY_LOG)], folder / "log", _MOST_LOG, 1)
                spent = spent_in([folder / "log" / GATEWAY_LOG], under_way=False)
            fetched = backend.fetch(handle, [_SNAPSHOTS], folder / "snapshots", 0, 1)  # named, and none is copied
        return spent, min(MAX_SNAPSHOTS, fetched.files + sum(map(_how_many, fetched.refused)))


def _how_many(refused: str) -> int:
    more = _MORE.fullmatch(refused)
    return int(more[1]) if more else 1


def time_left(records: Sequence[RunRecord], running: Sequence[Running], at_once: int) -> tuple[float | None, float]:
    """Seconds until all runs have ended: as runs of the same agent took so far, and at most.

    The first is None as long as no run has ended.
    """
    took: dict[str, list[float]] = defaultdict(list)
    for record in records:
        if record.seconds is not None and record.state in ("graded", "collected", "collecting"):
            took[record.label].append(record.seconds)
    waiting = [record for record in records if record.state in _WAITING]
    limits = [record.limits.time for record in waiting]
    whole = sum(run.left for run in running) + sum(limits)
    longest = max((run.left for run in running), default=0.0)
    at_most = max(longest, whole / at_once, max(limits, default=0.0) * math.ceil(len(waiting) / at_once))
    if not took:
        return None, at_most
    overall = statistics.fmean(seconds for each in took.values() for seconds in each)
    mean = {label: statistics.fmean(each) for label, each in took.items()}
    rest = [max(0.0, mean.get(run.agent, overall) - run.used) for run in running]
    work = math.fsum(rest) + math.fsum(mean.get(record.label, overall) for record in waiting)
    return min(at_most, max(work / at_once, max(rest, default=0.0))), at_most
