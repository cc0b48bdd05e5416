"""On Windows, the same commands give the same bytes and scores as here; tried in Wine."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from mlecore_testing.drawn_groups import write_group

from mlecore.child_environment import child_environment
from mlecore.data.manifest import read_files

from .conftest import Command

pytestmark = pytest.mark.wine

ID = "aerial-cactus-identification"


def here(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mlecore", *arguments]
    return subprocess.run(command, env=child_environment(), capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def there(wine: Command) -> Command:
    """`mlecore ARGUMENTS` in Wine."""
    return partial(wine, "-m", "mlecore")


@pytest.fixture(scope="module")
def prepared(there: Command, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The data directories of this system and of Windows, prepared from the same archive."""
    folder = tmp_path_factory.mktemp("data")
    assert here("prepare", ID, "--synthetic", "--data", folder / "raw").returncode == 0
    archive = shutil.make_archive(str(folder / ID), "zip", folder / "raw" / ID / "synthetic" / "raw")
    for run, data in ((here, folder / "here"), (there, folder / "there")):
        done = run("prepare", ID, "--archive", Path(archive), "--skip-verification", "--data", data)
        assert done.returncode == 0, done.stderr
    return folder / "here", folder / "there"


def test_the_prepared_data_have_the_same_bytes(prepared: tuple[Path, Path]) -> None:
    ours, theirs = (
        [(entry.path, entry.size, entry.sha256) for entry in read_files(data / ID / "prepared")] for data in prepared
    )
    assert len(ours) > 5
    assert theirs == ours


def test_submissions_are_checked_and_graded_alike(there: Command, prepared: tuple[Path, Path], tmp_path: Path) -> None:
    sample = (prepared[0] / ID / "prepared" / "public" / "sample_submission.csv").read_text().splitlines()
    drawn = [f"{line.split(',')[0]},{number * 7919 % 1000 / 1000}" for number, line in enumerate(sample[1:])]
    for name, lines in (("valid", drawn), ("invalid", drawn[1:])):
        submission = tmp_path / f"{name}.csv"
        submission.write_text("\n".join([sample[0], *lines, ""]))
        for command in ("check", "grade"):
            ours, theirs = (
                run(command, submission, ID, "--json", "--data", data)
                for run, data in zip((here, there), prepared, strict=True)
            )
            assert theirs.returncode == ours.returncode == (name == "invalid"), theirs.stderr
            assert _told(theirs) == _told(ours)


def _told(done: subprocess.CompletedProcess[str]) -> object:
    """Without what differs from call to call, and paths."""
    found = json.loads(done.stdout)
    return {name: value for name, value in found.items() if name not in ("created_at", "submission", "submission_path")}


def test_reports_are_the_same(there: Command, tmp_path: Path) -> None:
    write_group(tmp_path / "runs", "drawn", competitions=[ID, "spaceship-titanic"], seeds=2)
    for form in ("--markdown", "--json"):
        ours, theirs = (run("report", "drawn", form, "--runs", tmp_path / "runs") for run in (here, there))
        ours, theirs = (re.sub(r"\d{4}-\d\d-\d\d.\d\d:[\d:+]*", "NOW", done.stdout) for done in (ours, theirs))
        assert "NOW" in ours
        assert theirs == ours


def test_nothing_outlives_a_worker(wine: Command, tmp_path: Path) -> None:
    done = wine(Path(__file__).parent / "workers_there.py", tmp_path / "pids")
    assert done.stdout.splitlines() == [
        "answer",
        "crash 3 False",
        "took more than its limit of 10 s False",
        "caller True",
        "killed False",
    ], done.stderr


def test_agents_do_not_run(there: Command) -> None:
    done = there("run", "--agent", "dummy", "--competition", ID, "--synthetic")
    assert done.returncode == 2
    assert "agents do not run on Windows" in done.stderr and "WSL 2" in done.stderr
