"""Judging runs: what `mlecore detect` does, and `mlecore run` after each run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType

from mlecore.data.layout import DataDirs
from mlecore.detecting.isolated import IsolatedDetector
from mlecore.detecting.ready import ReadyDetector
from mlecore.errors import DataError, MlecoreError
from mlecore.runs.findings import Findings, write_findings
from mlecore.runs.record import RunRecord


class Dismissed(MlecoreError):
    """The judges were closed while they were active: nothing is written of it."""


class Judges:
    """Detectors, each in a separate process, which work side by side. One run at a time."""

    def __init__(
        self, detectors: Sequence[ReadyDetector], data: DataDirs, public_of: Callable[[RunRecord], Path | None]
    ) -> None:
        """``public_of``: where in ``data`` the public data of a run's competition lie; None if they are not there."""
        self.detectors = tuple(detectors)
        self._public_of = public_of
        self._processes = {detector.name: IsolatedDetector(detector, data) for detector in detectors}
        self._closed = False

    def __enter__(self) -> Judges:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the processes; a call of ``judge`` in another thread raises Dismissed."""
        self._closed = True
        for process in self._processes.values():
            process.close()

    def judge(
        self, run: RunRecord, group: Sequence[RunRecord], detectors: Sequence[ReadyDetector] | None = None
    ) -> list[Findings]:
        """Have ``detectors`` (default: all) judge a run beside the others of its group, and write what they find.

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


class PublicData:
    """Where the public data of runs lie: those that the run worked on, or none."""

    def __init__(self, dirs: DataDirs) -> None:
        self._dirs = dirs
        self._known: dict[tuple[str, str, bool, str | None], Path | None] = {}

    def __call__(self, run: RunRecord) -> Path | None:
        key = (run.competition, run.edition, run.synthetic, run.data_digest)
        if key not in self._known:
            self._known[key] = self._find(run)
        return self._known[key]

    def _find(self, run: RunRecord) -> Path | None:
        from mlecore.competitions import competition
        from mlecore.data import open_prepared

        try:
            data = open_prepared(competition(run.competition, run.edition), self._dirs, synthetic=run.synthetic)
            return data.public if run.data_digest in (None, data.digest) else None
        except MlecoreError:  # a detector says for itself what it cannot decide without them
            return None
