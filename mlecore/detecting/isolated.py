"""A detector in a separate process, which sees no answers and is ended if it takes too long."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from mlecore.child_environment import child_environment
from mlecore.data.layout import DataDirs
from mlecore.detecting.ready import ReadyDetector
from mlecore.detecting.view import through
from mlecore.detectors import Detection
from mlecore.runs.findings import Findings, findings_of, group_digest
from mlecore.runs.journal import now
from mlecore.runs.record import RunRecord
from mlecore.schema import SchemaError, parse_json, structure


class IsolatedDetector:
    """Judges runs in one process, one after the other. Not thread-safe."""

    def __init__(self, detector: ReadyDetector, data: DataDirs) -> None:
        """``data``: of which it sees the public part only."""
        self.detector = detector
        self._data = data
        self._process: subprocess.Popen[bytes] | None = None
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
        process, self._process = self._process, None
        if process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            for stream in (process.stdin, process.stdout):
                if stream:
                    with contextlib.suppress(OSError):  # a pipe whose reader is gone still holds what was to be flushed
                        stream.close()

    def judge(self, run: RunRecord, group: Sequence[RunRecord], public: Path | None) -> Findings:
        """What the detector finds in a run beside the others of its group, or why it failed. Raises nothing for that.

        ``group`` includes the run, and all runs that earlier calls had. ``public``: the public data of its competition;
        None if they are not there.
        """
        began, created_at = time.monotonic(), now()
        see_through = through(self._data, run.folder.parent)
        if self._process is None or self._process.poll() is not None or self._through != see_through:
            self.close()
            self._process, self._through = _start(see_through, self.detector), see_through
        joined = [other.folder for other in group if other.folder not in self._joined]
        self._joined.update(joined)
        request = {
            "detector": self.detector.name,
            "options": dict(self.detector.use.options),
            "run": str(run.folder),
            "joined": list(map(str, joined)),
            "public": None if public is None else str(public),
        }
        result = self._ask(self._process, json.dumps(request).encode() + b"\n")
        seconds = time.monotonic() - began
        return findings_of(
            run, self.detector.use, result, group=group_digest(group), created_at=created_at, seconds=seconds
        )

    def _ask(self, process: subprocess.Popen[bytes], request: bytes) -> Detection | str:
        assert process.stdin
        try:
            process.stdin.write(request)
            process.stdin.flush()
        except OSError:
            self.close()
            return "its process ended before it was asked"
        line = _read_line(process, self.detector.detector.seconds)
        if line is None:
            self.close()
            return f"it took more than its limit of {self.detector.detector.seconds:g} s"
        if not line.endswith(b"\n"):
            status = process.wait()
            self.close()
            return f"its process ended without a result ({_how(status)})"
        try:
            answer = parse_json(line)
            return str(answer["error"]) if "error" in answer else structure(Detection, answer["detection"])
        except SchemaError as error:
            return f"its result is no detection: {error.message}"


def _start(through: tuple[str, ...], detector: ReadyDetector) -> subprocess.Popen[bytes]:
    memory = str(int(detector.detector.memory_gb * 2**30))
    return subprocess.Popen(
        [*through, sys.executable, "-m", "mlecore.detecting.worker", memory],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=child_environment(*detector.variables),
        start_new_session=True,  # Ctrl-C is for the caller, which ends it with all that it has started
    )


def _read_line(process: subprocess.Popen[bytes], seconds: float) -> bytes | None:
    """The answer; without a line end where the process is at its end, None once the time is up."""
    assert process.stdout
    deadline, parts = time.monotonic() + seconds, []
    while True:
        ready, _, _ = select.select([process.stdout], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            return None
        part = os.read(process.stdout.fileno(), 1 << 16)
        parts.append(part)
        if not part or part.endswith(b"\n"):
            return b"".join(parts)


def _how(status: int) -> str:
    if status > 128:  # bubblewrap passes a signal on like this
        status = 128 - status
    return f"signal {-status}" if status < 0 else f"exit code {status}"
