"""A run is graded by the plugin that its group began with, against the data that it worked on, or not at all."""

from __future__ import annotations

import json
import shutil

import pytest

from mlecore.controller.snapshots import grade_snapshots
from mlecore.errors import GradingError
from mlecore.runs.store import load_group

RUN = "worker--coins--0"


@pytest.fixture
def collected(lab, tmp_path):
    """A run that has been collected and not graded, with its own data."""
    if (lab.data / "coins").exists():
        shutil.copytree(lab.data, tmp_path / "data")
    lab.data = tmp_path / "data"
    lab.make(("worker", {}))
    lab.grader.error = GradingError("not now")
    assert not lab.run().complete
    lab.grader.error = None
    return lab


@pytest.fixture
def replaced(tmp_path, monkeypatch, installed):
    """Graders find another plugin `coins`, which finds everything perfect."""
    there = tmp_path / "installed"
    shutil.copytree(installed, there, ignore=shutil.ignore_patterns("__pycache__"))
    module = there / "mle_test_coins/__init__.py"
    text = module.read_text()
    module.write_text(text.replace("return float(", "return 1.0 or float("))
    assert module.read_text() != text
    monkeypatch.setenv("PYTHONPATH", str(there))


def grade(lab) -> dict:
    return json.loads((lab.folder(RUN) / "grade.json").read_text())


@pytest.mark.slow
def test_another_plugin_does_not_grade_unasked(collected, cli, replaced):
    code, output = cli("runs", "grade", "g")
    assert code == 3 and "another plugin of coins is installed" in output and "--with-installed" in output
    assert [record.state for record in load_group(collected.group.folder)] == ["collected"]
    assert not (collected.folder(RUN) / "grade.json").exists()
    code, output = cli("runs", "grade", "--with-installed", "g")
    assert code == 0, output
    assert grade(collected)["score"] == 1.0 and grade(collected)["began_with"].startswith("mle-test")
    assert "Graded on request by another plugin" in cli("report", "g")[1]


def test_the_plugin_that_the_group_began_with_grades(collected, cli):
    assert cli("runs", "grade", "g")[0] == 0
    assert grade(collected)["began_with"] == "" and grade(collected)["plugin_source"]
    code, output = cli("runs", "grade", "g")
    assert code == 0 and "no run is waiting" in output


@pytest.mark.parametrize("part", ["public", "private"])
def test_other_data_than_it_worked_on_do_not_grade(collected, part):
    path = next(collected.data.rglob("manifest.json"))
    values = json.loads(path.read_text())
    before = path.read_bytes()
    values[part]["digest"] = "0" * 64
    path.write_text(json.dumps(values))
    assert not collected.run().complete
    error = json.loads((collected.folder(RUN) / "grade_error.json").read_text())["error"]
    assert "are not those that" in error and "mlecore prepare" not in error
    assert not (collected.folder(RUN) / "grade.json").exists()
    path.write_bytes(before)
    assert collected.run().complete and grade(collected)["status"] == "graded"


def test_snapshots_of_a_group_from_elsewhere_are_not_graded(collected, monkeypatch, tmp_path):
    from mlecore.data.layout import DataDirs
    from mlecore.errors import UsageError

    folder = collected.group.folder
    monkeypatch.setenv("MLECORE_STATE", str(tmp_path / "another user's"))
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    for named in (folder, folder / RUN):
        with pytest.raises(UsageError, match="read-only"):
            grade_snapshots(named, DataDirs.of([collected.data]))
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before
