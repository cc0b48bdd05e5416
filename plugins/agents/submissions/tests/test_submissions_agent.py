"""Which file is handed in for a run, and what is rejected."""

from __future__ import annotations

from pathlib import Path

import mle_agent_submissions as plugin
import pytest

from mlecore.errors import UsageError
from mlecore.model.agents import Task
from mlecore.model.options import resolve
from mlecore_testing.tasks import a_task


def task(folder: Path, seed: int = 0) -> Task:
    return a_task(seed=seed, options={"from": str(folder)})


def put(folder: Path, name: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(name)
    return path


def test_a_file_of_the_seed_goes_before_one_for_all(tmp_path: Path) -> None:
    order = ["spaceship-titanic/1.csv", "1/spaceship-titanic.csv", "spaceship-titanic.csv"]
    order.append("spaceship-titanic/submission.csv")
    paths = [put(tmp_path, name) for name in order]
    for path in paths:
        assert plugin.launch(task(tmp_path, seed=1)).submission == path
        path.unlink()
    assert plugin.launch(task(tmp_path, seed=1)).submission is None


def test_another_seed_or_competition_is_not_taken(tmp_path: Path) -> None:
    put(tmp_path, "spaceship-titanic/0.csv")
    put(tmp_path, "optical-digits.csv")
    assert plugin.launch(task(tmp_path, seed=1)).submission is None


def test_a_missing_folder_is_an_error_with_the_fix(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"not a folder\n.*-A from=DIR"):
        plugin.launch(task(tmp_path / "nowhere"))


def test_links_stay_inside(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    answers = put(tmp_path, "private/test.csv")
    real = put(folder, "all.csv")
    link = folder / "spaceship-titanic.csv"
    link.symlink_to(real)
    assert plugin.launch(task(folder)).submission == real
    link.unlink()
    link.symlink_to(answers)
    with pytest.raises(UsageError, match="link to a file outside"):
        plugin.launch(task(folder))


def test_the_folder_must_be_given() -> None:
    with pytest.raises(UsageError, match="needs the option from"):
        resolve(plugin.agent().options, {}, "agent submissions")
