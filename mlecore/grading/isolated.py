"""Grading and checking in separate processes, so that a grader that hangs, leaks or crashes harms nothing else.

A worker imports pandas once and forks for each submission: a grading then costs milliseconds instead of a second of
imports, and starts from clean memory under the competition's limits.
"""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

from mlecore.data.prepared import Prepared
from mlecore.errors import GradingError, InvalidSubmission
from mlecore.grading.report import Sample
from mlecore.model.competition import Competition
from mlecore.model.provenance import PluginUse
from mlecore.model.report import Report
from mlecore.util.schema import plain
from mlecore.workers.pool import Worker, WorkerError, WorkerFailure


class IsolatedGrader:
    """Grades and checks submissions in worker processes, as many as threads that call it at once. Thread-safe."""

    def __init__(self) -> None:
        self._idle: list[Worker] = []
        self._lock = threading.Lock()
        self._samples: dict[str, Sample] = {}  # by the competition and its data

    def __enter__(self) -> IsolatedGrader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the workers."""
        with self._lock:
            workers, self._idle = self._idle, []
        for worker in workers:
            worker.close()

    def grade(
        self, competition: Competition, submission: Path | None, data: Prepared, plugin: PluginUse | None = None
    ) -> Report:
        """What ``mlecore.grading.report.grade`` makes of a submission (None: there is none).

        The sample submission is graded once for all submissions on the same data. ``plugin``: the only one that may
        grade it; None: whatever is installed. Raises GradingError for what is not the submission's fault: another
        plugin, a grader's bug, damaged answers, or going over the competition's limits of time and memory.
        """
        place = plain(data)
        key = json.dumps(place)
        request = {
            "submission": None if submission is None else str(submission),
            "data": place,
            "sample": self._samples.get(key),
            "began_with": None if plugin is None else plain(plugin),
        }
        report = Report.from_json(self._ask(competition, "grading", request))
        if report.sample_score is not None:
            self._samples[key] = report.plugin_source, report.sample_score
        return report

    def check(self, competition: Competition, submission: Path, public: Path) -> list[str]:
        """Warnings about a submission that is well-formed, see ``Competition.check``.

        Raises InvalidSubmission for one that is not, and GradingError for what is not the submission's fault: a bug of
        the plugin, or going over the competition's limits of time and memory.
        """
        request = {"submission": str(submission), "public": str(public), "began_with": None}
        warnings: list[str] = self._ask(competition, "checking a submission to", request)
        return warnings

    def _ask(self, target: Competition, doing: str, request: dict[str, Any]) -> Any:
        with self._lock:
            worker = self._idle.pop() if self._idle else None
        if worker is None or not worker.alive:
            worker = Worker("mlecore.grading.worker")
        limits = target.facts.limits
        try:
            return worker.ask(
                {"competition": target.id, "edition": target.edition, **request},
                seconds=limits.seconds,
                memory_gb=limits.memory_gb,
            )
        except WorkerFailure as failure:
            raise GradingError(f"{doing} {target.id} {failure}") from None
        except WorkerError as error:
            kind = InvalidSubmission if error.kind == "InvalidSubmission" else GradingError
            raise kind(error.message, fix=error.fix) from None
        finally:
            if worker.alive:
                with self._lock:
                    self._idle.append(worker)
