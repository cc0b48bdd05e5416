"""Prepare several competitions at once: downloads overlap with preparing, and a failure stops only its own."""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from attrs import evolve, frozen

from mlecore.data.layout import DataDirs
from mlecore.data.prepared import Preparation
from mlecore.data.sources import Kaggle, Source, Synthetic, usual
from mlecore.errors import MlecoreError, PluginError
from mlecore.util.child_environment import PROXIES
from mlecore.util.schema import plain, structure
from mlecore.workers.pool import Worker, WorkerCrash, WorkerFailure

if TYPE_CHECKING:
    from mlecore.model.competition import Competition

DOWNLOADS = 3  # at once: they share a connection
PREPARING = max(1, min(4, os.cpu_count() or 1))  # at once: each may use all cores at times, and much memory


class Observer(Protocol):
    """Receives progress and results, from several threads."""

    def progress(self, competition: str, done: int, total: int, what: str) -> None: ...
    def say(self, competition: str, line: str) -> None: ...
    def finished(self, outcome: Outcome) -> None: ...


@frozen(kw_only=True)
class Wanted:
    """One competition to prepare. ``source`` None: the source of its real data."""

    competition: Competition
    source: Source | None = None
    force: bool = False
    keep_raw: bool = False
    verify: bool = True


@frozen(kw_only=True)
class Outcome:
    """How the work on one competition ended: with its data, or with an error."""

    competition: str
    result: Preparation | MlecoreError


def prepare_many(wanted: Sequence[Wanted], dirs: DataDirs, observer: Observer) -> list[Outcome]:
    """Prepare all of them and return the outcomes in the given order. A failure raises nothing."""
    downloads, preparing = threading.Semaphore(DOWNLOADS), threading.Semaphore(PREPARING)

    def one(item: Wanted) -> Outcome:
        result: Preparation | MlecoreError
        try:
            notes: tuple[str, ...] = ()
            if _needs_kaggle(item, dirs):
                with downloads:
                    notes = _download(item, dirs, observer)
            with preparing:
                result = _in_process(item, dirs, observer)
            result = evolve(result, notes=notes + result.notes)
        except MlecoreError as error:
            result = error
        except Exception as error:  # a bug in mlecore, or the disk: the others are prepared anyway
            result = MlecoreError(f"{type(error).__name__}: {error}")
            result.__cause__ = error
        outcome = Outcome(competition=item.competition.id, result=result)
        observer.finished(outcome)
        return outcome

    if len(wanted) == 1:
        return [one(wanted[0])]
    from concurrent.futures import ThreadPoolExecutor

    pool = ThreadPoolExecutor(max(1, min(len(wanted), 64)), thread_name_prefix="prepare")
    try:
        outcomes = list(pool.map(one, wanted))
    except BaseException:  # an interrupt: the workers end with this process; the next call resumes
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    pool.shutdown()
    return outcomes


def _needs_kaggle(item: Wanted, dirs: DataDirs) -> bool:
    source = item.source or usual(item.competition)
    if not isinstance(source, Kaggle) or dirs.archive(item.competition.id) is not None:
        return False
    return item.force or dirs.find(item.competition.id, item.competition.edition) is None


def _download(item: Wanted, dirs: DataDirs, observer: Observer) -> tuple[str, ...]:
    from mlecore.data.kaggle.download import download
    from mlecore.data.lock import lock

    competition = item.competition
    with lock(dirs.folder(competition.id), f"downloading {competition.id}", _waiting(competition.id, observer)):
        if not _needs_kaggle(item, dirs):  # another process downloaded and prepared it while we waited
            return ()
        return download(
            competition.facts, dirs, verify=item.verify, progress=partial(observer.progress, competition.id)
        ).notes


def _waiting(competition: str, observer: Observer) -> Callable[[str], bool]:
    said: set[str] = set()

    def wait(holder: str) -> bool:
        if holder not in said:
            said.add(holder)
            observer.say(competition, f"waiting: {holder}")
        return True

    return wait


def _in_process(item: Wanted, dirs: DataDirs, observer: Observer) -> Preparation:
    """Run mlecore.data.worker for it."""
    competition, source = item.competition, item.source or usual(item.competition)
    request = {
        "competition": competition.id,
        "edition": competition.edition,
        "dirs": [str(folder) for folder in dirs.dirs],
        "source": [source.name, plain(source)],
        "force": item.force,
        "keep_raw": item.keep_raw,
        "verify": item.verify,
    }

    def listen(message: dict[str, Any]) -> None:
        match message:
            case {"progress": [done, total, what]}:
                observer.progress(competition.id, done, total, what)
            case {"waiting": holder}:
                observer.say(competition.id, f"waiting: {holder}")

    proxies = () if isinstance(source, Synthetic) else PROXIES  # it may download
    with (
        tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as stderr,
        Worker("mlecore.data.worker", variables=proxies, stderr=stderr) as worker,
    ):
        try:
            return structure(Preparation, worker.ask(request, listen=listen))
        except WorkerFailure as failure:
            stderr.seek(0)
            raise PluginError(_failed(competition.id, failure, stderr.read())) from None


def _failed(competition: str, failure: WorkerFailure, stderr: str) -> str:
    if isinstance(failure, WorkerCrash) and failure.status == -9:  # SIGKILL
        return f"preparing {competition} was killed, most likely because the memory ran out"
    last = "\n  ".join(stderr.strip().splitlines()[-5:])
    return f"preparing {competition} {failure}" + (f":\n  {last}" if last else "")
