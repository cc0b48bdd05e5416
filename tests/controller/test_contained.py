"""Agents that misbehave in a real sandbox: each is contained, and reported in words."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mlecore.controller.api import run
from mlecore.controller.collect import MAX_SNAPSHOTS
from mlecore.model.record import RunRecord
from mlecore.runs.store import grade_of, read_record

SLEEP = f"sleep {10**6 + os.getpid()}"  # as no process of another test does
GOOD = "cp /opt/mlecore/sample.csv /home/submission/submission.csv\n"


def _works() -> bool:
    try:
        command = ["bwrap", "--ro-bind", "/", "/", "--unshare-pid", "--unshare-net", "true"]
        return subprocess.run(command, capture_output=True).returncode == 0
    except FileNotFoundError:
        return False


pytestmark = [
    pytest.mark.sandbox,
    pytest.mark.slow,
    pytest.mark.skipif(not _works(), reason="bubblewrap does not work"),
]


@pytest.fixture
def attempt(tmp_path, data, monkeypatch):
    """Runs a shell script as an agent on `coins`."""
    monkeypatch.setenv("MLECORE_VM_STATE", str(tmp_path / "vm"))
    if os.geteuid() == 0:  # the agent is another user then, who must reach its data
        for folder in (tmp_path, data, *tmp_path.parents):
            if folder.stat().st_uid == 0 and folder != Path("/"):
                folder.chmod(folder.stat().st_mode | 0o055)

    def go(script: str, **limits) -> RunRecord:
        file = tmp_path / "agent.sh"
        file.write_text(script)
        monkeypatch.chdir(tmp_path)
        options = {"argv": f"sh {file.name}"}
        limits.setdefault("time_limit", "5m")
        where = {"runs": tmp_path / "runs", "data": [data]}
        (record,) = run(agent="command", competition="coins", options=options, retries=0, **where, **limits)
        return record

    return go


def status(record: RunRecord) -> str:
    return grade_of(record.folder)["status"]


def test_a_time_limit_that_is_ignored(attempt):
    script = f"trap '' TERM INT HUP\nsetsid sh -c \"trap '' TERM; {SLEEP}\" &\n"
    record = attempt(script + GOOD + "while :; do sleep 1; done\n", time_limit="2s")
    assert record.ended == "timed_out" and "time limit of 2 s" in record.reason
    assert status(record) == "graded"
    assert SLEEP not in _processes()


@pytest.mark.parametrize(
    "script",
    [
        "rm -rf /home/logs; echo x > /home/logs",
        "rm -rf /home/code; ln -s / /home/code",
        "mkdir -p /home/logs/relay.jsonl/x /home/logs/gateway.jsonl /home/logs/output.log",
        r"""mkdir -p /home/.mlecore; printf '{"gpu": "\\ud800"}' > /home/.mlecore/hardware.json""",
        "n=$(printf %0200d 0); cd /home/logs; for i in $(seq 60); do mkdir $n && cd $n || break; done; echo > x",
    ],
)
def test_collecting_ends_with_any_output(attempt, script):
    record = attempt(f"{GOOD}{script}\n")
    assert record.state == "graded" and status(record) == "graded", record
    assert (record.folder / "logs" / "output.log").is_file()


def test_ten_thousand_files_and_forks(attempt):
    script = GOOD + "i=0; while [ $i -lt 10000 ]; do : > /home/logs/$i; i=$((i+1)); done\n"
    record = attempt(script + "for i in 1 2 3 4 5 6 7 8; do (sleep 100 &) ; done\n")
    assert record.ended == "finished" and status(record) == "graded"
    assert record.collected.files > 9000


FORGE = """
cd /home/.mlecore; mkdir -p snapshots
printf '{"cpus": 9999, "cpu": "\\033[31mfast", "memory": 1e400, "gpus": [{"name": "B200"}]}' >hardware.json
printf '{"exit_code": 0, "timed_out": false, "seconds": 0.5}' >exit.json
i=0; while [ $i -lt 3009 ]; do : >snapshots/$i.csv; i=$((i+1)); done
chmod 0555 . snapshots
"""


@pytest.mark.parametrize(
    ("end", "ended", "limit"),
    [("trap '' TERM; while :; do sleep 1; done", "timed_out", "10s"), ("kill -9 $$", "crashed", "5m")],
)
def test_what_a_sandbox_says_of_itself_is_not_believed(attempt, end, ended, limit):
    record = attempt(f"{GOOD}{FORGE}{end}\n", time_limit=limit, cpus=1)
    assert (record.ended, status(record), record.collected.snapshots) == (ended, "graded", 0), record
    assert record.hardware.cpus == 1 and record.hardware.gpus == () and "fast" not in record.hardware.cpu
    if ended == "timed_out":
        assert record.seconds > 2 and "its sandbox reported 0.5 s" in record.reason
    assert any(f"init keeps {MAX_SNAPSHOTS} at most" in words for words in record.collected.refused)


def test_a_home_that_is_locked_is_collected(attempt):
    record = attempt(f"{GOOD}chmod 0 /home/submission/submission.csv /home/submission /home\n")
    assert (record.state, status(record), len(record.attempts)) == ("graded", "graded", 1), record


def test_a_full_memory(attempt):
    script = GOOD + "python3 -c 'x = []\nwhile True: x.append(bytearray(10**7))'\n"
    record = attempt(script, memory="300MB")
    assert record.ended in ("oom", "crashed") and status(record) == "graded", record


def test_the_limit_holds_with_the_controller_dead(attempt, tmp_path, data):
    """SIGKILL the controller: the sandbox ends by itself when its time is up, and the next controller says so."""
    script = tmp_path / "agent.sh"
    script.write_text(f"{GOOD}{SLEEP}\n")
    command = [sys.executable, "-c", "from mlecore.cli import main; main()"]
    where = ["--runs", str(tmp_path / "runs"), "--data", str(data)]
    run_it = [*command, "run", "--agent", "command", "-A", "argv=sh agent.sh", "--competition", "coins"]
    process = subprocess.Popen(
        [*run_it, "--time-limit", "10s", "--group", "g", *where], cwd=tmp_path, start_new_session=True
    )
    record_file = tmp_path / "runs" / "g" / "command--coins--0" / "run.json"
    deadline = time.monotonic() + 240
    while SLEEP not in _processes() or '"running"' not in record_file.read_text():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    deadline = time.monotonic() + 240
    while SLEEP in _processes():
        assert time.monotonic() < deadline
        time.sleep(0.2)
    done = subprocess.run([*command, "runs", "resume", "g", *where], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    record = read_record(record_file.parent)
    assert (record.state, record.ended, status(record), len(record.attempts)) == ("graded", "timed_out", "graded", 1)
    assert record.seconds >= 10


def _processes() -> str:
    return subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True).stdout
