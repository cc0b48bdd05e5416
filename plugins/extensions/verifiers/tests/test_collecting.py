"""What an agent leaves as its submission, copied to this machine and graded: always as `mlecore grade` grades it."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest

import mlecore
from mlecore.data.prepared import Prepared
from mlecore.errors import GradingError

pytest.importorskip("verifiers", reason="verifiers is not installed")
from mle_ext_verifiers.collecting import collect

LIMIT = 64 * 2**20


class Box:
    """Runs commands on this machine, with a folder in the place of /home."""

    def __init__(self, home: Path) -> None:
        self.home = home

    async def run(self, argv: Sequence[str], env: dict[str, str]) -> SimpleNamespace:
        here = [part.replace("/home/", f"{self.home}/") for part in argv]
        done = subprocess.run(here, capture_output=True, text=True)
        return SimpleNamespace(exit_code=done.returncode, stdout=done.stdout, stderr=done.stderr)

    async def read(self, path: str, max_bytes: int) -> bytes:
        return Path(path.replace("/home/", f"{self.home}/")).read_bytes()


@pytest.fixture
def box(tmp_path: Path, prepared: Prepared) -> Box:
    home = tmp_path / "home"
    (home / "submission").mkdir(parents=True)
    (home / "data").symlink_to(prepared.public)
    return Box(home)


def test_each_submission_gets_its_report(box: Box, prepared: Prepared, commands: Sequence[str], tmp_path: Path) -> None:
    competition = mlecore.competition(prepared.competition)
    reasons = set()
    for number, command in enumerate(commands):
        subprocess.run(["rm", "-rf", box.home / "submission" / "submission.csv"], check=True)
        asyncio.run(box.run(["sh", "-c", command], {}))
        folder = tmp_path / str(number)
        folder.mkdir()
        copied = asyncio.run(collect(box, LIMIT, folder))  # type: ignore[arg-type]
        there = box.home / "submission" / "submission.csv"
        expected = mlecore.grade(competition, there if there.exists() or there.is_symlink() else None, prepared)
        found = mlecore.grade(competition, copied, prepared)
        assert (found.status, found.exact, found.reason) == (expected.status, expected.exact, expected.reason), command
        reasons.add(found.reason or found.score_text)
    assert len(reasons) > 12  # the commands differ


def test_a_folder_that_is_a_link_holds_no_submission(box: Box, prepared: Prepared, tmp_path: Path) -> None:
    (box.home / "submission").rmdir()
    (box.home / "submission").symlink_to(prepared.public)
    (copied,) = [asyncio.run(collect(box, LIMIT, tmp_path))]  # type: ignore[arg-type]
    assert copied is not None and copied.is_symlink()


def test_a_box_that_does_not_answer_is_no_missing_submission(box: Box, tmp_path: Path) -> None:
    class Broken(Box):
        async def run(self, argv: Sequence[str], env: dict[str, str]) -> SimpleNamespace:
            return SimpleNamespace(exit_code=1, stdout="", stderr="no such container")

    with pytest.raises(GradingError, match="no such container"):
        asyncio.run(collect(Broken(box.home), LIMIT, tmp_path))  # type: ignore[arg-type]
