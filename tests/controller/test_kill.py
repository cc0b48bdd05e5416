"""Real controllers, really killed."""

from __future__ import annotations

import os
import random
import signal
import time

import pytest

from mlecore.runs.lock import holder
from mlecore.runs.store import grade_of, load_group

pytestmark = pytest.mark.slow


def settled(shell, group: str, runs: int) -> None:
    """Every run graded, once, and nothing left at the backend."""
    records = load_group(shell.runs / group)
    assert len(records) == runs and {record.state for record in records} == {"graded"}
    for record in records:
        assert record.gradings == 1 and record.ended == "finished" and len(record.attempts) == 1
        assert grade_of(record.folder)["status"] == "graded" and record.submission
        assert grade_of(record.folder)["score"] == pytest.approx(0.7 if record.seed % 2 else 0.3)
    assert not list((shell.backend_root / "jobs").glob("[!.]*"))


def test_killed_at_random_moments(shell):
    """Ten kills of one group; every time the same command goes on."""
    rng = random.Random(4)
    arguments = shell.run_arguments("g", 12, seconds="0.2")
    kills = 0
    while kills < 10:
        if not shell.kill_after(rng.uniform(0.3, 1.6), *arguments):
            break
        kills += 1
    code, output = shell.call("run", *arguments[1:])
    assert code == 0, output
    assert kills >= 5
    settled(shell, "g", 12)
    assert len(set((shell.backend_root / "starts.log").read_text().split())) == 12


def test_two_controllers(shell):
    first = shell.begin(*shell.run_arguments("g", 2, seconds="3600"))
    shell.wait_for(shell.runs / "g" / "worker--coins--0" / "run.json")
    assert holder(shell.runs / "g")["pid"] == first.pid
    code, output = shell.call("runs", "resume", "g")
    assert code == 3 and f"process {first.pid}" in output and "Traceback" not in output
    code, output = shell.call("runs", "list")
    assert code == 0 and f"process {first.pid}" in output
    code, output = shell.call("runs", "cancel", "g/worker--coins--1")
    assert code == 0 and "asked its controller" in output
    while load_group(shell.runs / "g")[1].state != "cancelled":
        assert first.poll() is None
        time.sleep(0.05)
    (shell.backend_root / "over").touch()
    output, _ = first.communicate(timeout=300)
    assert first.returncode == 0, output
    states = {record.seed: record.state for record in load_group(shell.runs / "g")}
    assert states == {0: "graded", 1: "cancelled"}
    assert holder(shell.runs / "g") is None


def test_ctrl_c_stops_the_controller_and_not_its_runs(shell):
    process = shell.begin(*shell.run_arguments("g", 1, seconds="3600"))
    shell.wait_for(shell.backend_root / "starts.log")
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=300)
    assert process.returncode == 3 and "mlecore runs resume g" in output and "Traceback" not in output
    (shell.backend_root / "over").touch()
    code, output = shell.call("runs", "resume", "g")
    assert code == 0, output
    settled(shell, "g", 1)
    assert len((shell.backend_root / "starts.log").read_text().split()) == 1


def test_cancel_and_retry_without_a_controller(shell):
    process = shell.begin(*shell.run_arguments("g", 3, seconds="3600"), "--max-parallel", "1")
    shell.wait_for(shell.backend_root / "starts.log")
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    code, output = shell.call("runs", "cancel", "g")
    assert code == 0, output
    records = load_group(shell.runs / "g")
    assert {record.state for record in records} == {"cancelled"} and not list(
        (shell.backend_root / "jobs").glob("[!.]*")
    )
    assert sorted(record.ended or "" for record in records) == ["", "", "stopped"]
    code, output = shell.call("runs", "retry", "g/worker--coins--2")
    assert code == 0 and "resume g" in output
    assert {record.seed: record.state for record in load_group(shell.runs / "g")}[2] == "planned"
    code, output = shell.call("runs", "retry", "g/worker--coins--2")
    assert code == 2 and "planned" in output
