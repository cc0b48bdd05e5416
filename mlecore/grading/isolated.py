"""Grading and checking in separate processes, so that a grader that hangs, leaks or crashes harms nothing else.

A worker imports pandas once and forks for each submission: a grading then costs milliseconds instead of a second of
imports, and starts from clean memory under the competition's limits.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from mlecore.child_environment import child_environment
from mlecore.data.prepared import Prepared
from mlecore.errors import GradingError, InvalidSubmission
from mlecore.grading.report import Report
from mlecore.registry.provenance import PluginUse
from mlecore.schema import plain

if TYPE_CHECKING:
    from mlecore.competitions import Competition


class IsolatedGrader:
    """Grades and checks submissions in worker processes, as many as threads that call it at once. Thread-safe."""

    def __init__(self) -> None:
        self._idle: list[subprocess.Popen[str]] = []
        self._lock = threading.Lock()

    def __enter__(self) -> IsolatedGrader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the workers."""
        with self._lock:
            workers, self._idle = self._idle, []
        for worker in workers:
            _end(worker)

    def grade(self, submission: Path | None, data: Prepared, plugin: PluginUse | None = None) -> Report:
        """What ``mlecore.grading.grade`` makes of a submission (None: there is none).

        ``plugin``: the only one that may grade it; None: whatever is installed. Raises GradingError for what is not the
        submission's fault: another plugin, a grader's bug, damaged answers, or going over the competition's limits of
        time and memory.
        """
        answer = self._ask(
            {
                "competition": data.competition,
                "edition": data.edition,
                "submission": None if submission is None else str(submission),
                "data": data.to_json(),
                "plugin": None if plugin is None else plain(plugin),
            }
        )
        return Report.from_json(answer["report"])

    def check(self, competition: Competition, submission: Path, public: Path) -> list[str]:
        """Warnings about a submission that is well-formed, as ``Competition.check`` gives them.

        Raises InvalidSubmission for one that is not, and GradingError for what is not the submission's fault: a bug of
        the plugin, or going over the competition's limits of time and memory.
        """
        answer = self._ask(
            {
                "competition": competition.id,
                "edition": competition.edition,
                "submission": str(submission),
                "public": str(public),
                "plugin": None,
            }
        )
        if "invalid" in answer:
            raise InvalidSubmission(answer["invalid"])
        warnings: list[str] = answer["warnings"]
        return warnings

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        answer = self._answer(request)
        if "error" in answer:
            raise GradingError(answer["error"], fix=answer.get("fix"))
        return answer

    def _answer(self, request: dict[str, Any]) -> dict[str, Any]:
        with self._lock:
            worker = self._idle.pop() if self._idle else None
        if worker is None or worker.poll() is not None:
            worker = _start()
        assert worker.stdin and worker.stdout
        try:
            worker.stdin.write(json.dumps(request) + "\n")
            worker.stdin.flush()
            line = worker.stdout.readline()
            answer: dict[str, Any] = json.loads(line)
        except (OSError, ValueError):
            _end(worker)
            return {"error": f"the grading process of {request['competition']} died"}
        with self._lock:
            self._idle.append(worker)
        return answer


def _start() -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "mlecore.grading.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=child_environment(),
        text=True,
        start_new_session=True,  # Ctrl-C is for the controller, which lets a grading finish
    )


def _end(worker: subprocess.Popen[str]) -> None:
    for stream in (worker.stdin, worker.stdout):
        if stream:
            try:
                stream.close()
            except OSError:  # a pipe whose reader is gone still holds what was to be flushed
                continue
    try:
        worker.wait(timeout=2)
    except subprocess.TimeoutExpired:
        worker.kill()
        worker.wait()
