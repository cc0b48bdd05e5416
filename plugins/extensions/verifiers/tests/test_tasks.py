"""Exported folders as tasks of verifiers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from mlecore.cli import main

pytest.importorskip("verifiers", reason="verifiers is not installed")
from verifiers.v1.utils.loaders import default_harness_id, load_taskset, taskset_config_type

ID = "spaceship-titanic"
NAME = "mle-ext-verifiers"


@pytest.fixture
def tasks(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An exported task, with an image's name as if it had been built."""
    out = tmp_path / "tasks"
    command = ["export", "harbor", ID, "--synthetic", "--data", str(data), "--out", str(out), "--reward", "position"]
    done = CliRunner().invoke(main, [*command, "--memory", "2GiB", "--cpus", "2", "--network", "none"])
    assert done.exit_code == 0, done.output
    change(out, r"\[environment\]", '[environment]\ndocker_image = "lab/image:1"')
    monkeypatch.setenv("MLECORE_DATA", str(data))
    return out


def change(tasks: Path, pattern: str, new: str) -> None:
    file = tasks / ID / "task.toml"
    text, count = re.subn(rf"^{pattern}", new, file.read_text(), flags=re.MULTILINE)
    assert count == 1
    file.write_text(text)


def load(tasks: Path) -> list:  # type: ignore[type-arg]
    return list(load_taskset(taskset_config_type(NAME)(id=NAME, path=tasks)))


def test_a_task_has_what_was_exported(tasks: Path) -> None:
    (task,) = load(tasks)
    data = task.data
    assert (task.key, data.image, data.workdir, data.network_allow) == (ID, "lab/image:1", "/home", [])
    assert (data.resources.cpu, data.resources.memory, data.resources.gpu) == (2, 2, None)
    assert (data.timeout.agent, data.reward) == (24 * 3600, "position")
    assert "/home/data/description.md" in data.prompt
    assert str(tasks) not in data.model_dump_json()
    assert default_harness_id(NAME) == NAME


@pytest.mark.parametrize(
    ("pattern", "new", "said"),
    [
        ("data_digest = .*", 'data_digest = "0"', "MLECORE_DATA"),
        ("docker_image = .*", "", "--delivery image"),
        ("reward = .*", 'reward = "loss"', "is not a task"),
        ("competition = .*", 'competition = "no-such-thing"', "no-such-thing"),
    ],
)
def test_a_wrong_task_is_refused_before_any_rollout(tasks: Path, pattern: str, new: str, said: str) -> None:
    change(tasks, pattern, new)
    with pytest.raises(SystemExit, match=re.escape(said)):
        load(tasks)


def test_an_empty_folder_says_how_to_fill_it(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="mlecore export harbor"):
        load(tmp_path)
