"""Rollouts of verifiers in containers: each reward is that of the grade that `mlecore grade` prints."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from mle_ext_harbor.reward import best_score, reward

import mlecore
from mlecore.cli import main
from mlecore.data.prepared import Prepared
from mlecore.model.report import Report
from mlecore_testing.answers_hunt import found, program

pytest.importorskip("verifiers", reason="verifiers is not installed")

ID = "spaceship-titanic"
BASE = "python:3.11-slim-bookworm"

pytestmark = [pytest.mark.slow, pytest.mark.docker]


@pytest.fixture(scope="module")
def tasks(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An exported task; its images are removed in the end. Nothing is installed in the one for Harbor's verifier."""
    out = tmp_path_factory.mktemp("export") / "tasks"
    command = ["export", "harbor", ID, "--synthetic", "--data", str(data), "--out", str(out), "--reward", "position"]
    command += ["--delivery", "image", "--repository", "mlecore-verifiers-test", "--verifier-image", BASE]
    done = CliRunner().invoke(main, command)
    assert done.exit_code == 0, done.output
    return out


def evaluate(tasks: Path, data: Path, url: str, folder: Path, rollouts: int) -> list[dict[str, Any]]:
    """The traces that vf-eval writes."""
    command: list[str | Path] = [Path(sys.executable).with_name("vf-eval"), "mle-ext-verifiers", "--no-push"]
    command += ["--env.taskset.path", tasks, "--env.agent.runtime.type", "docker", "--model", "scripted", "--no-rich"]
    command += ["--client.base-url", url, "--client.api-key-var", "NONE", "-r", str(rollouts), "-c", "4", "-o", folder]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "MLECORE_DATA": str(data)})
    assert done.returncode == 0, done.stderr[-3000:]
    (file,) = folder.glob("*/traces.jsonl")
    episodes = [json.loads(line) for line in file.read_text().splitlines()]
    return [trace for episode in episodes for trace in episode["traces"]]


def test_each_reward_is_that_of_the_grade(
    tasks: Path,
    data: Path,
    prepared: Prepared,
    commands: Sequence[str],
    serving: Callable[..., Any],
    tmp_path: Path,
) -> None:
    with serving(commands) as (url, _):
        traces = evaluate(tasks, data, url, tmp_path / "out", len(commands))
    assert len(traces) == len(commands)
    competition = mlecore.competition(ID)
    best = best_score(competition, prepared)
    rewards = {}
    for trace in traces:
        assert trace["ok"], trace["errors"]
        (call,) = next(node["message"]["tool_calls"] for node in trace["nodes"] if node["message"].get("tool_calls"))
        command = json.loads(call["arguments"])["command"]
        report = graded(command, prepared, data, tmp_path / "home")
        expected = 0.0 if report is None else reward(report, "position", best)
        assert trace["rewards"]["grade"]["score"] == expected, command
        assert trace["metrics"]["valid"] == float(report is not None and report.valid_submission)
        rewards[command] = expected
    assert set(rewards) == set(commands)
    assert rewards[commands[0]] == 1.0
    assert len(set(rewards.values())) > 4  # the commands differ


def graded(command: str, prepared: Prepared, data: Path, home: Path) -> Report | None:
    """What `mlecore grade` prints about what the command leaves on this machine; None if that is nothing."""
    subprocess.run(["rm", "-rf", home], check=True)
    (home / "submission").mkdir(parents=True)
    (home / "data").symlink_to(prepared.public)
    subprocess.run(["sh", "-c", command.replace("/home/", f"{home}/")], check=True)
    there = home / "submission" / "submission.csv"
    if not there.exists():
        return None
    done = CliRunner().invoke(main, ["grade", str(there), ID, "--synthetic", "--data", str(data), "--json"])
    return Report.from_json(json.loads(done.stdout))


def test_no_answers_are_in_the_box(
    tasks: Path, data: Path, prepared: Prepared, serving: Callable[..., Any], tmp_path: Path
) -> None:
    hunt = f"python3 - <<'END'\n{program(prepared)}\nEND"
    with serving([hunt]) as (url, seen):
        (trace,) = evaluate(tasks, data, url, tmp_path / "out", 1)
    assert trace["ok"], trace["errors"]
    hunted = found(seen[-1]["messages"][-1]["content"])
    assert hunted.answers == []
    assert hunted.looked > 100
