"""Starts a command-line agent with the task, and goes on with its session while time is left.

The task comes on standard input, the settings in the variable SESSIONS:

- ``first`` and ``next``: argv of a new session and of one that goes on. Both read their prompt from standard input.
- ``state``: the folder below home in which the program keeps its sessions; it is made.
- ``session``: a glob below that folder; a file that it matches means that there is a session to go on with.
- ``log``: where the program's standard output is kept, below home.
- ``rounds``: maximum number of sessions, including the first.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import clock
import ending

HOME = Path(os.environ.get("MLECORE_HOME", "/home"))
FINISHED = HOME / "logs" / "finished"
ENOUGH = 60.0  # seconds; with less left no session begins
FAILURES = 3  # in a row
PAUSE = 5.0  # seconds after a failure, doubled each time

FIRST = f"""
You work alone, and nobody reads along or answers. You are asked to go on until your time is up. When you are sure that
you cannot improve the submission any more, create the file {FINISHED}.
"""
NEXT = f"""\
You have {{left}} left. Go on: improve the submission, and leave a valid one in {HOME}/submission/submission.csv.
When you are sure that you cannot improve it any more, create the file {FINISHED}.
"""


def work(task: str, settings: dict[str, Any]) -> str:
    """Start sessions until there is a reason to stop; returns the outcome."""
    failures, state = 0, HOME / settings["state"]
    state.mkdir(parents=True, exist_ok=True)
    for number in range(1, settings["rounds"] + 1):
        if number > 1 and clock.left() < ENOUGH:
            return "time_up"
        resumed = any(state.glob(settings["session"]))
        prompt = NEXT.format(left=clock.left_in_words()) if resumed else f"{task}{FIRST}"
        code = session(settings["next" if resumed else "first"], prompt, HOME / settings["log"])
        if FINISHED.exists():
            return "submitted"
        failures = failures + 1 if code else 0
        if failures == FAILURES:
            return f"gave_up: exit code {code}, {FAILURES} times in a row"
        if failures:
            time.sleep(max(0.0, min(PAUSE * 2 ** (failures - 1), clock.left() - ENOUGH)))
    return "steps_used"


def session(argv: list[str], prompt: str, log: Path) -> int:
    """The exit code of one session, whose standard output is added to the log."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as out:
        return subprocess.run(argv, cwd=HOME, input=prompt.encode(), stdout=out, check=False).returncode


def main() -> None:
    ending.report(work(sys.stdin.read(), json.loads(os.environ["SESSIONS"])))


if __name__ == "__main__":
    main()
