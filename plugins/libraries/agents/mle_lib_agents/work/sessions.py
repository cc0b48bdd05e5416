"""Starts a command-line agent with the task, and goes on with its session while time is left.

The task comes on standard input, the settings in the variable SESSIONS:

- ``first`` and ``next``: argv of a new session and of one that goes on. Both read their prompt from standard input.
- ``state``: the folder below home in which the program keeps its sessions; it is made.
- ``session``: a glob below that folder; a file that it matches means that there is a session to go on with.
- ``log``: where the program's standard output is kept, below home.
- ``rounds``: maximum number of sessions, including the first.
- ``background``: what the model is told about commands that still run when it ends its turn; default: ``KILLED``.
- ``streams``: is its input JSON, a message a line, as Claude Code's? It then lives, and what it runs in the background,
  until the input ends.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import re
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
SHORT, SILENT = 30.0, 5  # seconds, and so many sessions in a row: does the model call tools at all?
PAUSE = 5.0  # seconds after a failure, doubled each time
IDLE = 600.0  # seconds without a twentieth of a CPU, after which what a session left running is not waited for
PR_SET_CHILD_SUBREAPER = 36
_MESSAGE = re.compile(r'"(?:message|result|detail)": ?"((?:[^"\\]|\\.)+)"')

FIRST = f"""
You work alone, and nobody reads along or answers. You are asked to go on until your time is up. When you are sure that
you cannot improve the submission any more, create the file {FINISHED}.

A command may run until your time is up: where your tool has a time limit per command, raise it for long training.
{{background}}
"""
KILLED = """\
Wait for your commands before you end your turn, since those that still run are killed then. Only what you started with
`setsid nohup` goes on; you are asked to continue once it has ended.\
"""
NEXT = f"""\
You have {{left}} left. Go on: improve the submission, and leave a valid one in {HOME}/submission/submission.csv.
When you are sure that you cannot improve it any more, create the file {FINISHED}.
"""


def work(task: str, settings: dict[str, Any]) -> str:
    """Start sessions until there is a reason to stop; returns the outcome."""
    failures, silent, state = 0, 0, HOME / settings["state"]
    state.mkdir(parents=True, exist_ok=True)
    for number in range(1, settings["rounds"] + 1):
        if number > 1 and clock.left() < ENOUGH:
            return "time_up"
        resumed = any(state.glob(settings["session"]))
        prompt = (
            NEXT.format(left=clock.left_in_words())
            if resumed
            else task + FIRST.format(background=settings.get("background", KILLED))
        )
        argv = settings["next" if resumed else "first"]
        began = time.monotonic()
        code = session(argv, prompt, HOME / settings["log"], settings.get("streams", False))
        if FINISHED.exists():
            return "submitted"
        wait_for_children(os.getpid())
        silent = silent + 1 if not code and time.monotonic() - began < SHORT else 0
        failures = failures + 1 if code else 0
        if failures == FAILURES:
            return f"gave_up: exit code {code}, {FAILURES} times in a row{said(HOME / settings['log'])}"
        if silent == SILENT:
            return (
                f"gave_up: {SILENT} sessions in a row took less than {SHORT:g} s; if the model calls no tools, its"
                " server may lack a parser for them (vLLM: --enable-auto-tool-choice, --tool-call-parser)"
            )
        if failures:
            time.sleep(max(0.0, min(PAUSE * 2 ** (failures - 1), clock.left() - ENOUGH)))
    return "steps_used"


def session(argv: list[str], prompt: str, log: Path, streams: bool) -> int:
    """The exit code of one session, whose standard output is added to the log."""
    log.parent.mkdir(parents=True, exist_ok=True)
    message = {"type": "user", "message": {"role": "user", "content": prompt}}
    with log.open("ab") as out:
        process = subprocess.Popen(argv, cwd=HOME, stdin=subprocess.PIPE, stdout=out)
    assert process.stdin
    with contextlib.suppress(BrokenPipeError), process.stdin as given:
        given.write((json.dumps(message) + "\n" if streams else prompt).encode())
        given.flush()
        while streams and process.poll() is None and not turn_is_over(log):
            time.sleep(0.5)
            if turn_is_over(log):
                wait_for_children(process.pid)  # the program goes on by itself when one of its own has ended
                time.sleep(1)
    return process.wait()


def turn_is_over(log: Path) -> bool:
    """Is the last line that of a result?"""
    return b'"type":"result"' in end_of(log).rstrip(b"\n").rpartition(b"\n")[2]


def said(log: Path) -> str:
    """The last message in a log of JSON, where the programs say why they fail."""
    found = _MESSAGE.findall(end_of(log).decode(errors="replace"))
    return f": {found[-1][:500]}" if found else ""


def end_of(log: Path) -> bytes:
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - 2**20))
        return file.read()


def wait_for_children(above: int) -> None:
    """Wait for what runs below a process while that works: what stands still may be a server that nobody ends."""
    used, since = 0.0, time.monotonic()
    while clock.left() > ENOUGH and time.monotonic() - since < IDLE:
        if above == os.getpid():
            with contextlib.suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
        if not (running := descendants(above)):
            return
        now = sum(running)
        if abs(now - used) > 0.05 * IDLE:  # it also changes when one ends
            used, since = now, time.monotonic()
        time.sleep(1)


def descendants(above: int) -> list[float]:
    """Seconds of CPU that each process below one has used."""
    parents, used = dict[int, int](), dict[int, float]()
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it has ended
            fields = path.read_text(errors="replace").rpartition(")")[2].split()
            parents[int(path.parent.name)] = int(fields[1])
            used[int(path.parent.name)] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    found = {above}
    while more := {process for process, parent in parents.items() if parent in found} - found:
        found |= more
    return [used[process] for process in found - {above}]


def main() -> None:
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)  # so that it learns of processes whose parent has ended
    ending.report(work(sys.stdin.read(), json.loads(os.environ["SESSIONS"])))


if __name__ == "__main__":
    main()
