"""One competition's synthetic data, its task folder, and the verifier run without a container."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from mle_ext_harbor.exporting import VERIFIER

import mlecore
from mlecore.cli import main
from mlecore.data.prepared import Prepared
from mlecore_testing.synthetic_data import prepare_synthetic

ID = "spaceship-titanic"


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return prepare_synthetic(ID, tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="session")
def prepared(data: Path) -> Prepared:
    return mlecore.open_data(mlecore.competition(ID), [data], synthetic=True)


@pytest.fixture(scope="session")
def task(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("export") / "tasks"
    arguments = ["export", "harbor", ID, "--synthetic", "--data", str(data), "--out", str(out), "--memory", "2GiB"]
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 0, done.output
    again = CliRunner().invoke(main, arguments)
    assert (again.exit_code, "already exists" in again.output) == (2, True)
    return out / ID


@pytest.fixture
def verify(
    task: Path, prepared: Prepared, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[Path], dict[str, float]]:
    """What the verifier says, with the places of its container moved into the test's folder."""

    def run(submission: Path) -> dict[str, float]:
        spec = importlib.util.spec_from_file_location("grade", VERIFIER / "grade.py")
        assert spec and spec.loader
        monkeypatch.syspath_prepend(task / "tests")
        monkeypatch.setattr(sys, "dont_write_bytecode", True)  # other tests read the folder, too
        program = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(program)
        (tmp_path / "settings.json").write_bytes((task / "tests" / "settings.json").read_bytes())
        inside = json.loads((task / "tests" / "prepared.json").read_text())
        root = str(prepared.root)
        (tmp_path / "prepared.json").write_text(json.dumps(inside | {"root": root, "lists": root}))
        program.__file__ = str(tmp_path / "grade.py")
        program.SUBMISSION, program.OUTPUT = submission, tmp_path / "verifier"
        program.main()
        return dict(json.loads((tmp_path / "verifier" / "reward.json").read_text()))

    return run
