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
BENCHMARK = Path(__file__).parents[4] / "benchmarks" / "rollouts.py"
pytestmark = [pytest.mark.slow, pytest.mark.docker]


@pytest.fixture(scope="module")
def tasks(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An exported task. Its image is kept, so that the next run of these tests need not build it."""
    out = tmp_path_factory.mktemp("export") / "tasks"
    command = ["export", "harbor", ID, "--synthetic", "--data", str(data), "--out", str(out), "--reward", "position"]
    command += ["--delivery", "image", "--repository", "mlecore-verifiers-test", "--no-verifier"]
    done = CliRunner().invoke(main, command)
    assert done.exit_code == 0, done.output
    return out


def start(command: str, *arguments: str | Path, data: Path) -> None:
    """Run a command of verifiers on the task set."""
    argv = [Path(sys.executable).with_name(command), "mle-ext-verifiers", "--no-rich", *arguments]
    done = subprocess.run(argv, capture_output=True, text=True, env={**os.environ, "MLECORE_DATA": str(data)})
    assert done.returncode == 0, done.stderr[-3000:]


def evaluate(tasks: Path, data: Path, url: str, folder: Path, rollouts: int) -> list[dict[str, Any]]:
    """The traces that vf-eval writes."""
    model = ("--model", "scripted", "--client.base-url", url, "--client.api-key-var", "NONE", "--no-push")
    place = ("--env.taskset.path", tasks, "--env.agent.runtime.type", "docker", "-o", folder)
    start("vf-eval", *place, *model, "-r", str(rollouts), "-c", "4", data=data)
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
    reports = grades(commands, prepared, data, tmp_path)
    with serving(commands) as (url, _):
        traces = evaluate(tasks, data, url, tmp_path / "out", len(commands))
    best = best_score(mlecore.competition(ID), prepared)
    rewards = {}
    for trace in traces:
        assert trace["ok"], trace["errors"]
        (call,) = next(node["message"]["tool_calls"] for node in trace["nodes"] if node["message"].get("tool_calls"))
        command = json.loads(call["arguments"])["command"]
        rewards[command] = trace["rewards"]["grade"]["score"]
        assert rewards[command] == reward(reports[command], "position", best), command
        assert trace["metrics"]["valid"] == float(reports[command].valid_submission)
        assert trace["info"]["report"]["reason"] == reports[command].reason
    assert rewards.keys() == set(commands)
    assert rewards[commands[0]] == 1
    assert len(set(rewards.values())) > 4  # the commands differ


def grades(commands: Sequence[str], prepared: Prepared, data: Path, folder: Path) -> dict[str, Report]:
    """What `mlecore grade` prints about what each command leaves on this machine."""
    submissions = {}
    for number, command in enumerate(commands):
        home = folder / str(number)
        (home / "submission").mkdir(parents=True)
        (home / "data").symlink_to(prepared.public)
        subprocess.run(["sh", "-c", command.replace("/home/", f"{home}/")], check=True)
        submissions[command] = str(home / "submission" / "submission.csv")
    lines = [json.dumps({"competition_id": ID, "submission_path": path}) for path in submissions.values()]
    (folder / "submissions.jsonl").write_text("\n".join(lines))
    where = ["--jsonl", str(folder / "submissions.jsonl"), "--synthetic", "--data", str(data), "--json"]
    done = CliRunner().invoke(main, ["grade", *where])
    found = map(Report.from_json, json.loads(done.stdout)["competition_reports"])
    return dict(zip(submissions, found, strict=True))


def test_a_perfect_submission_is_worth_everything_and_none_nothing(tasks: Path, data: Path, tmp_path: Path) -> None:
    start("vf-validate", "--taskset.path", tasks, "--runtime.type", "docker", "-o", tmp_path, data=data)
    (file,) = tmp_path.rglob("results.jsonl")
    result = json.loads(file.read_text())
    assert (result["gold"]["valid"], result["noop"]["valid"], result["noop"]["reward"]) == (True, True, 0)


def test_work_counts_if_a_command_kills_the_agent(
    tasks: Path, data: Path, serving: Callable[..., Any], tmp_path: Path
) -> None:
    with serving(["cp /home/data/sample_submission.csv /home/submission/submission.csv; kill -9 -1"]) as (url, _):
        (trace,) = evaluate(tasks, data, url, tmp_path / "out", 1)
    assert trace["ok"], trace["errors"]
    assert trace["metrics"]["valid"] == 1


def test_rollouts_are_measured(tasks: Path, data: Path) -> None:
    command = [sys.executable, BENCHMARK, tasks, "--rollouts", "2"]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "MLECORE_DATA": str(data)})
    assert done.returncode == 0, done.stderr[-3000:]
    assert "an hour" in done.stdout


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
