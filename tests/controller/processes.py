"""Controllers as separate processes, to be killed: `mlecore run` and `mlecore runs` on an imagined backend."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

INSTALLED = Path(__file__).parent / "installed"


class Shell:
    """Runs the command line with the plugins of the tests installed."""

    def __init__(self, root: Path, data: Path) -> None:
        self.root, self.data = root, data
        self.backend_root = root / "backend"
        self.runs = root / "runs"
        self.notes = root / "notes.jsonl"
        (self.backend_root / "jobs").mkdir(parents=True)
        self.env = {
            **os.environ,
            "PYTHONPATH": str(INSTALLED),
            "MLECORE_DATA": str(data),
            "MLECORE_RUNS": str(self.runs),
            "TEST_NOTES": str(self.notes),
        }

    def begin(self, *arguments: str) -> subprocess.Popen[str]:
        """In its own session, so that killing it kills its graders too."""
        return subprocess.Popen(
            [sys.executable, "-c", "from mlecore.cli import main; main()", *arguments],
            env=self.env,
            cwd=self.root,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def call(self, *arguments: str, timeout: float = 300) -> tuple[int, str]:
        process = self.begin(*arguments)
        output, _ = process.communicate(timeout=timeout)
        return process.returncode, output

    def run_arguments(self, group: str, seeds: int, **options: str) -> list[str]:
        agent = [text for name, value in options.items() for text in ("-A", f"{name}={value}")]
        where = ["--backend", "folders", "-B", f"root={self.backend_root}", "--time-limit", "60s"]
        return [
            "run",
            "--agent",
            "worker",
            "--competition",
            "coins",
            "--seeds",
            str(seeds),
            "--group",
            group,
            "--no-detect",
            *where,
            *agent,
        ]

    def kill_after(self, seconds: float, *arguments: str) -> bool:
        """SIGKILL a controller after a while; False if it had come to its end before."""
        process = self.begin(*arguments)
        try:
            process.wait(timeout=seconds)
            return False
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return True
        finally:
            if process.stdout:
                process.stdout.close()

    def wait_for(self, path: Path, seconds: float = 300) -> None:
        deadline = time.monotonic() + seconds
        while not path.exists():
            if time.monotonic() > deadline:
                raise AssertionError(f"{path} did not appear")
            time.sleep(0.01)
