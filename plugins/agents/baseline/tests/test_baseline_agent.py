"""The agent as a process: the sample first, the model's file when it is good, and a log that says which."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import mle_agent_baseline as plugin
import pandas as pd
import pytest

from mlecore.model.agents import Task
from mlecore_testing.tasks import a_task


def task(**changes: Any) -> Task:
    return a_task(**{"metric": "roc-auc", "time_limit": 300.0, **changes})


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A sandbox's tree with a table that is easy to learn."""
    home = tmp_path / "home"
    (home / "data").mkdir(parents=True)
    table = pd.DataFrame({"id": range(90), "x": [i % 10 for i in range(90)]})
    table["y"] = (table["x"] > 4).astype(int)
    table[:60].to_csv(home / "data" / "train.csv", index=False)
    table[60:][["id", "x"]].to_csv(home / "data" / "test.csv", index=False)
    (home / "data" / "description.md").write_text("A task.")
    (tmp_path / "opt").mkdir()
    table[60:][["id"]].assign(y=0.5).to_csv(tmp_path / "opt" / "sample.csv", index=False)
    return home


def run(home: Path, task: Task, code: int = 0) -> str:
    """Start the agent as a backend does; the last line of its log. It must end with this exit code."""
    launch = plugin.launch(task)
    for name, content in launch.files.items():
        (home / name).parent.mkdir(exist_ok=True)
        (home / name).write_bytes(content if isinstance(content, bytes) else content.read_bytes())
    argv = [sys.executable, *launch.argv[1:]]
    place = {"MLECORE_HOME": str(home), "MLECORE_OPT": str(home.parent / "opt"), "PATH": "/usr/bin:/bin"}
    env = {**place, **launch.env}
    done = subprocess.run(argv, cwd=home, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    assert bool(code) == ("Traceback" in done.stderr)
    assert sorted(path.name for path in (home / "submission").iterdir()) == ["submission.csv"]
    return (home / "logs" / "baseline.log").read_text().splitlines()[-1]


def handed_in(home: Path) -> pd.DataFrame:
    return pd.read_csv(home / "submission" / "submission.csv")


@pytest.mark.slow
@pytest.mark.slow
def test_a_model_replaces_the_sample(home: Path) -> None:
    assert run(home, task()).startswith("result: model (")
    assert (home / "logs" / "outcome").read_text() == "submitted\n"
    made = handed_in(home)
    assert list(made["id"]) == list(range(60, 90))
    assert made["y"][:5].max() < 0.5 < made["y"][5:10].min()


@pytest.mark.slow
def test_a_file_that_validate_rejects_is_not_submitted(home: Path) -> None:
    (home.parent / "opt" / "validate").write_text("print('line 2: too nice')\nraise SystemExit(1)\n")
    assert run(home, task()) == "result: sample (validate rejected the model's file: line 2: too nice)"
    assert set(handed_in(home)["y"]) == {0.5}


@pytest.mark.slow
def test_an_undecided_check_does_not_reject(home: Path) -> None:
    (home.parent / "opt" / "validate").write_text("raise SystemExit(3)\n")
    assert run(home, task()).startswith("result: model (")


@pytest.mark.slow
def test_the_time_limit_is_kept(home: Path) -> None:
    assert run(home, task(time_limit=1.0)) == "result: sample (not done after 1 s)"
    assert (home / "logs" / "outcome").read_text() == "fallback: the sample submission, because: not done after 1 s\n"
    assert set(handed_in(home)["y"]) == {0.5}


@pytest.mark.slow
def test_a_failing_worker_leaves_the_sample(home: Path) -> None:
    assert run(home, task(seed=-1), code=1).startswith("result: sample (an error, exit code 1")
    assert set(handed_in(home)["y"]) == {0.5}
    assert "InvalidParameterError" in (home / "logs" / "baseline.log").read_text()


@pytest.mark.slow
def test_data_without_a_model_leave_the_sample_and_say_why(home: Path) -> None:
    (home / "data" / "train.csv").unlink()
    assert run(home, task()) == "result: sample (no table holds what the sample asks for)"
