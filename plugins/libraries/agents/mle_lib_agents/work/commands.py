"""Starting programs on a model's behalf: they end in time, with all that they started, and their output is bounded."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

import clock

RESERVE = 30.0  # seconds at the end of the run in which no program is started


def run(argv: Sequence[str], folder: Path, seconds: float, shown: int) -> str:
    """What a program prints, to either stream, and how it ended unless it ended well.

    ``seconds`` is the longest that it may take, less where the run has less left. Of more than ``shown`` bytes the
    middle is left out.
    """
    limit = max(1.0, min(seconds, clock.left() - RESERVE))
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            argv,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            code = process.wait(timeout=limit)
            end = f"[exit code {code}]" if code else ""
        except subprocess.TimeoutExpired:
            end = f"[ended after {limit:.0f} seconds]"
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        printed = both_ends(output.fileno(), shown)
    return f"{printed.rstrip()}\n{end}".strip() or "[no output]"


def submission_flaw(home: Path) -> str:
    """What the sandbox's check says against the submission; empty if the file is valid, or if it cannot decide."""
    check = "sh validate_submission.sh submission/submission.csv; case $? in 0|3) echo may-be-valid;; esac"
    verdict = run(("sh", "-c", check), home, 3600, 8000)
    return "" if "may-be-valid" in verdict.splitlines() else verdict


def both_ends(descriptor: int, shown: int) -> str:
    """A file's text; of more than ``shown`` bytes the first and the last, with a word on the rest."""
    length = os.fstat(descriptor).st_size
    if length <= shown:
        return os.pread(descriptor, length, 0).decode(errors="replace")
    first, last = os.pread(descriptor, shown // 2, 0), os.pread(descriptor, shown // 2, length - shown // 2)
    left_out = f"\n[... {length - len(first) - len(last)} bytes left out ...]\n"
    return first.decode(errors="replace") + left_out + last.decode(errors="replace")
