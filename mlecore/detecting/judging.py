"""Judging runs: what `mlecore detect` does, and `mlecore run` after each run."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

from mlecore.data.layout import DataDirs
from mlecore.data.opening import open_prepared
from mlecore.detecting.ready import ReadyDetector
from mlecore.detecting.view import through
from mlecore.errors import DataError, MlecoreError
from mlecore.model.detectors import Detection
from mlecore.model.findings import Findings
from mlecore.model.record import RunRecord
from mlecore.plugins.competitions import competition
from mlecore.runs.findings import findings_of, group_digest, write_findings
from mlecore.runs.journal import now
from mlecore.util.schema import SchemaError, structure
from mlecore.workers.pool import Worker, WorkerCrash, WorkerError, WorkerFailure


class Dismissed(MlecoreError):
    """The judges were closed while they judged a run; nothing is written about it."""


class _Process:
    """One detector in a separate process, which sees no answers and is ended if it takes too long. Not thread-safe."""

    def __init__(self, detector: ReadyDetector, data: DataDirs) -> None:
        """``data``: the process sees only the public part."""
        self.detector = detector
        self._data = data
        self._worker: Worker | None = None
        self._through: tuple[str, ...] = ()  # the sandbox that the process was started in
        self._joined: set[Path] = set()  # folders of runs that the process knows

    def close(self) -> None:
        """End the process and those that it has started."""
        self._joined.clear()
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.close()

    def judge(self, run: RunRecord, group: Sequence[RunRecord], public: Path | None) -> Findings:
        """What the detector finds in a run, compared with the others of its group, or why it failed.

        ``group`` includes the run and all runs of earlier calls. ``public``: the public data of its competition, if
        they are on this machine.
        """
        began, created_at = time.monotonic(), now()
        result: Detection | str
        try:
            try:
                answer = self._ask(run, group, public)
            except WorkerCrash as crash:
                if crash.began:
                    raise
                answer = self._ask(run, group, public)  # as when a mount went away while bubblewrap copied it
            result = structure(Detection, answer)
        except WorkerFailure as failure:
            result = f"it {failure}"
        except WorkerError as error:
            result = str(error)
        except SchemaError as error:
            result = f"its result is no detection: {error.message}"
        seconds = time.monotonic() - began
        return findings_of(
            run, self.detector.use, result, group=group_digest(group), created_at=created_at, seconds=seconds
        )

    def _ask(self, run: RunRecord, group: Sequence[RunRecord], public: Path | None) -> Any:
        worker = self._started(through(self._data, run.folder.parent))
        joined = [other.folder for other in group if other.folder not in self._joined]
        self._joined.update(joined)
        request = {
            "detector": self.detector.name,
            "options": dict(self.detector.use.options),
            "run": str(run.folder),
            "joined": list(map(str, joined)),
            "public": None if public is None else str(public),
        }
        declared = self.detector.detector
        return worker.ask(request, seconds=declared.seconds, memory_gb=declared.memory_gb)

    def _started(self, see_through: tuple[str, ...]) -> Worker:
        if self._worker is None or not self._worker.alive or self._through != see_through:
            self.close()
            self._worker = Worker("mlecore.detecting.worker", through=see_through, variables=self.detector.variables)
            self._through = see_through
        return self._worker


class Judges:
    """Detectors that judge a run at the same time, each in its own process."""

    def __init__(
        self, detectors: Sequence[ReadyDetector], data: DataDirs, public_of: Callable[[RunRecord], Path | None]
    ) -> None:
        """``public_of``: the folder in ``data`` with the public data that a run worked on, or None."""
        self.detectors = tuple(detectors)
        self._public_of = public_of
        self._processes = {detector.name: _Process(detector, data) for detector in detectors}
        self._closed = False

    def __enter__(self) -> Judges:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the processes; a call of ``judge`` in another thread raises Dismissed."""
        self._closed = True
        for process in self._processes.values():
            process.close()

    def judge(
        self, run: RunRecord, group: Sequence[RunRecord], detectors: Sequence[ReadyDetector] | None = None
    ) -> list[Findings]:
        """Have ``detectors`` (default: all) judge a run of a group, and write what they find.

        Raises DataError if the run's folder cannot be written to, and Dismissed.
        """
        chosen = self.detectors if detectors is None else detectors
        public = self._public_of(run)

        def ask(detector: ReadyDetector) -> Findings:
            return self._processes[detector.name].judge(run, group, public)

        with ThreadPoolExecutor(max(1, len(chosen))) as pool:
            found = list(pool.map(ask, chosen))
        if self._closed:
            raise Dismissed("the detectors were stopped")
        try:
            write_findings(run, *found)
        except OSError as error:
            raise DataError(f"the findings for {run.name} cannot be written: {error}") from error
        return found


def public_data(dirs: DataDirs) -> Callable[[RunRecord], Path | None]:
    """A function that finds the public data that a run worked on; it returns None if they are not in ``dirs``."""

    @cache
    def find(id: str, edition: str, synthetic: bool, digest: str | None) -> Path | None:
        try:
            data = open_prepared(competition(id, edition), dirs, synthetic=synthetic)
            return data.public if digest in (None, data.digest) else None
        except MlecoreError:  # the detector reports what it cannot decide without them
            return None

    return lambda run: find(run.competition, run.edition, run.synthetic, run.data_digest)
