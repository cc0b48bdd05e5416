"""Groups of drawn runs, as tests/reports makes them."""

from __future__ import annotations

from pathlib import Path

import pytest
from attrs import evolve

from mlecore.runs.store import read_record, write_record
from mlecore_testing import drawn_groups


@pytest.fixture
def group(tmp_path: Path) -> Path:
    """A group of four runs, with submissions, logs and what an agent may have left besides."""
    ids = ["leaf-classification", "spaceship-titanic"]
    folder: Path = drawn_groups.write_group(tmp_path / "runs", "g", competitions=ids, seeds=2)
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
