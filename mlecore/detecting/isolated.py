"""A detector in a separate process, which sees no answers and is ended if it takes too long."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from mlecore.data.layout import DataDirs
from mlecore.detecting.ready import ReadyDetector
from mlecore.detecting.view import through
from mlecore.detectors import Detection
from mlecore.runs.findings import Findings, findings_of, group_digest
from mlecore.runs.journal import now
from mlecore.runs.record import RunRecord
from mlecore.schema import SchemaError, structure
from mlecore.workers import Worker, WorkerCrash, WorkerError, WorkerFailure


class IsolatedDetector:
    """Judges runs in one process, one after the other. Not thread-safe."""

    def __init__(self, detector: ReadyDetector, data: DataDirs) -> None:
        """``data``: of which it sees the public part only."""
        self.detector = detector
        self._data = data
        self._worker: Worker | None = None
        self._through: tuple[str, ...] = ()  # what the process was started with, and so what it sees
        self._joined: set[Path] = set()  # folders of runs that the process knows

    def __enter__(self) -> IsolatedDetector:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the process, and what it has started."""
        self._joined.clear()
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.close()

    def judge(self, run: RunRecord, group: Sequence[RunRecord], public: Path | None) -> Findings:
        """What the detector finds in a run beside the others of its group, or why it failed. Raises nothing for that.

        ``group`` includes the run, and all runs that earlier calls had. ``public``: the public data of its competition;
        None if they are not there.
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
