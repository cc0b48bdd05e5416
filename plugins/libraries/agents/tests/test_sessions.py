"""Command-line agents are started again while time is left."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from mle_lib_agents import WORK

# A command-line agent: keeps its prompt, and ends with the exit code that the file `codes` says next.
CLI = """
import pathlib, subprocess, sys
calls = pathlib.Path("calls"); calls.mkdir(exist_ok=True)
number = len(list(calls.iterdir()))
(calls / f"{number}").write_text(sys.argv[1] + " " + sys.stdin.read() + str(pathlib.Path("trained").exists()))
pathlib.Path("state/session.jsonl").touch()
print(f"line {number}")
code, *words = pathlib.Path("codes").read_text().splitlines()[number].split()
if words == ["fails"]: print('{"type":"error","message":"no \\\\"room\\\\""}')
elif words == ["finished"]: pathlib.Path("logs/finished").touch()
elif words: subprocess.Popen(["sh", "-c", " ".join(words)], start_new_session=True)
sys.exit(int(code))
"""


def run(
    home: Path, *codes: str, limit: float = 600, rounds: int = 5, idle: float = 60, session: str = "session.jsonl"
) -> str:
    """The last line; what it was started with is in calls/."""
    (home / "logs").mkdir(exist_ok=True)
    (home / "cli.py").write_text(CLI)
    (home / "codes").write_text("\n".join(codes))
    argv = {name: [sys.executable, "cli.py", name] for name in ("first", "next")}
    settings = {
        **argv,
        "state": "state",
        "session": session,
        "log": "logs/cli.jsonl",
        "rounds": rounds,
    }
    code = f"import sys; sys.path.insert(0, {str(WORK)!r}); import sessions; sessions.PAUSE = 0.01"
    code += f"; sessions.IDLE = {idle}; sessions.main()"
    env = {"MLECORE_HOME": str(home), "MLECORE_TIME_LIMIT": str(limit), "SESSIONS": json.dumps(settings)}
    done = subprocess.run([sys.executable, "-c", code], env=env, input="The task.", capture_output=True, text=True)
    assert not done.stderr, done.stderr
    assert (home / "logs" / "outcome").read_text() == done.stdout.splitlines()[-1] + "\n"
    return done.stdout.splitlines()[-1]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path


def test_it_goes_on_until_finished(home: Path) -> None:
    assert run(home, "0", "0", "0 finished") == "submitted"
    first, second, third = ((home / "calls" / name).read_text() for name in "012")
    assert first.startswith("first The task.") and "finished" in first
    assert second.startswith("next You have 9 minutes left") and third.startswith("next")
    assert (home / "logs" / "cli.jsonl").read_text() == "line 0\nline 1\nline 2\n"


def test_failures_end_it_only_in_a_row(home: Path) -> None:
    ended = run(home, "1", "1", "0", "1", "1 fails", "1", "0", rounds=9)
    assert ended == 'gave_up: exit code 1, 3 times in a row: no \\"room\\"'
    assert len(list((home / "calls").iterdir())) == 6


def test_without_a_session_the_task_is_given_again(home: Path) -> None:
    run(home, "1", "0 finished", session="none.jsonl")
    assert (home / "calls" / "1").read_text().startswith("first The task.")


def test_rounds_and_time_end_it(home: Path) -> None:
    assert run(home, "0", "0", rounds=2) == "steps_used"
    assert run(home, "0", "0", "0", limit=50) == "time_up"


def test_what_a_session_left_running_ends_before_the_next_one_begins(home: Path) -> None:
    left = "(sleep 1.5; touch trained; sleep 0.2) &"
    assert run(home, f"0 {left}", "0 finished") == "submitted"
    assert (home / "calls" / "1").read_text().endswith("True")


def test_what_stands_still_is_not_waited_for(home: Path) -> None:
    assert run(home, "0 echo $$ >left; exec sleep 300 >/dev/null 2>&1", "0 finished", idle=0.5) == "submitted"
    os.kill(int((home / "left").read_text()), signal.SIGKILL)  # it still runs


def test_sessions_that_do_nothing_end_it(home: Path) -> None:
    assert run(home, *["0"] * 9, rounds=9).startswith("gave_up: 5 sessions in a row")
    assert len(list((home / "calls").iterdir())) == 5
