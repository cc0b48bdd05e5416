"""Groups of drawn runs, as tests/reports makes them."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest
from attrs import evolve

from mlecore.runs.store import read_record, write_record


@pytest.fixture(scope="session")
def groups() -> ModuleType:
    path = Path(__file__).parents[1] / "reports" / "groups.py"
    spec = importlib.util.spec_from_file_location("mlecore_test_groups", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def group(groups: ModuleType, tmp_path: Path) -> Path:
    """A group of four runs, with submissions, logs and what an agent may have left besides."""
    ids = ["leaf-classification", "spaceship-titanic"]
    folder: Path = groups.write_group(tmp_path / "runs", "g", competitions=ids, seeds=2)
    for run in folder.glob("*--*"):
        for name in (
            "submission/submission.csv",
            "logs/agent.log",
            "code/main.py",
            "code_snapshots/60/main.py",
            "private/answers.csv",
            "notes.txt",
        ):
            path = run / name
            path.parent.mkdir(exist_ok=True, parents=True)
            path.write_text(f"{name} of {run.name}\n")
        write_record(evolve(read_record(run), digests=None))
        (run / "logs" / "link").symlink_to("/etc/passwd")
    return folder
