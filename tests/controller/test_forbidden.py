"""An agent that insists on the answers is rejected, and is told why."""

from __future__ import annotations

from pathlib import Path

import pytest

import mlecore
from mlecore.controller.job import refuse_answers
from mlecore.errors import UsageError
from mlecore.model.agents import Launch


@pytest.fixture
def private(tmp_path: Path) -> Path:
    folder = tmp_path / "data" / "digits" / "prepared@v2" / "private"
    (folder / "deeper").mkdir(parents=True)
    (folder / "test.csv").write_text("id,y\n")
    (folder / "deeper" / "test.csv").write_text("id,y\n")
    return folder


def launch(**fields: object) -> Launch:
    return Launch(**{"argv": ("python3", "agent.py"), **fields})  # type: ignore[arg-type]


@pytest.mark.parametrize("elsewhere", [False, True], ids=["own", "of another competition"])
def test_files_from_the_folder(private: Path, tmp_path: Path, elsewhere: bool) -> None:
    link = tmp_path / "harmless.csv"
    link.symlink_to(private / "test.csv")
    for path in (private / "test.csv", private / "deeper" / "test.csv", link):
        with pytest.raises(UsageError, match=r"agent sly asks for the answers \(agent/a.csv comes from .*no run gets"):
            refuse_answers("sly", launch(files={"agent/a.csv": path}), tmp_path / "none" if elsewhere else private)


def test_words_that_name_the_folder(private: Path) -> None:
    for fields in (
        {"argv": ("sh", "-c", f"cat {private}/test.csv")},
        {"argv": ("python3", "grade.py", "--answers", "/private/data")},
        {"env": {"ANSWERS": "/private"}},
    ):
        with pytest.raises(UsageError, match="asks for the answers"):
            refuse_answers("sly", launch(**fields), private)


def test_other_launches_are_left_alone(private: Path, tmp_path: Path) -> None:
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "agent.py").write_text("")
    fields = {"argv": ("python3", "src/private/x.py", "/home/private/x"), "env": {"NOTE": "keep it private/secret"}}
    refuse_answers("good", launch(files={"agent/agent.py": tmp_path / "private" / "agent.py"}, **fields), private)


def test_nothing_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="validate_submission"):
        mlecore.run(
            agent="command",
            competition="optical-digits",
            options={"argv": "python3 /home/agent/start.py --answers /private/data"},
            runs=tmp_path / "runs",
            data=[tmp_path / "data"],
        )
    assert not (tmp_path / "runs").exists() or not any((tmp_path / "runs").iterdir())
