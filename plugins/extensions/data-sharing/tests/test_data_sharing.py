"""The public part of prepared data, pushed to a place and pulled from it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from mlecore.cli import main
from mlecore.data.layout import DataDirs

ID = "spaceship-titanic"
PREPARED = f"{ID}/synthetic/prepared"


def mlecore(*words: str):
    return CliRunner().invoke(main, list(words))


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory with one prepared competition. Tests read it only."""
    data = tmp_path_factory.mktemp("data")
    assert mlecore("prepare", ID, "--synthetic", "--data", str(data)).exit_code == 0
    return data


@pytest.fixture
def place(source: Path, tmp_path: Path) -> Path:
    result = mlecore("data", "push", str(tmp_path / "place"), ID, "--synthetic", "--data", str(source))
    assert result.exit_code == 0 and "copied to" in result.output, result.output
    return tmp_path / "place"


def pull(place: Path, data: Path):
    return mlecore("data", "pull", str(place), ID, "--synthetic", "--data", str(data))


def content(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_there_and_back(source: Path, place: Path, tmp_path: Path) -> None:
    assert {path.split("/")[0] for path in content(place / PREPARED)} == {"public", "manifest.json", "manifest.files"}
    assert b"private/" not in (place / PREPARED / "manifest.files").read_bytes()
    result = pull(place, tmp_path / "other")
    assert result.exit_code == 0 and "copied from" in result.output, result.output
    there, here = (content(data / PREPARED / "public") for data in (source, tmp_path / "other"))
    assert here == there and len(here) > 2
    found = DataDirs((tmp_path / "other",)).find(ID, synthetic=True)
    assert found is not None and found.digest == DataDirs((source,)).find(ID, synthetic=True).digest
    assert found.private_digest == DataDirs((source,)).find(ID, synthetic=True).private_digest  # for grading elsewhere
    assert "copied" not in pull(place, tmp_path / "other").output
    checked = mlecore("data", "verify", ID, "--synthetic", "--data", str(tmp_path / "other"))
    assert checked.exit_code == 0, checked.output


def test_without_answers_there_is_no_grading(source: Path, place: Path, tmp_path: Path) -> None:
    pull(place, tmp_path / "other")
    sample = tmp_path / "other" / PREPARED / "public" / "sample_submission.csv"
    result = mlecore("grade", str(sample), ID, "--synthetic", "--data", str(tmp_path / "other"))
    assert result.exit_code == 3 and "the answers of spaceship-titanic are missing" in result.output, result.output


def test_an_interrupted_pull_goes_on(source: Path, place: Path, tmp_path: Path) -> None:
    partial = tmp_path / "other" / f"{PREPARED}.partial" / "public"
    partial.mkdir(parents=True)
    (partial / "train.csv").write_text("torn")
    (partial / "of-another-time.csv").write_text("x")
    assert pull(place, tmp_path / "other").exit_code == 0
    assert content(tmp_path / "other" / PREPARED / "public") == content(source / PREPARED / "public")


@pytest.mark.parametrize("change", ["shorter", "longer", "other"])
def test_damaged_files_are_not_taken(place: Path, tmp_path: Path, change: str) -> None:
    path = place / PREPARED / "public" / "train.csv"
    text = path.read_bytes()
    path.write_bytes({"shorter": text[:-1], "longer": text + b"x", "other": text[:-2] + b"?\n"}[change])
    result = pull(place, tmp_path / "other")
    assert result.exit_code == 3 and "public/train.csv is not the file" in result.output, result.output
    assert DataDirs((tmp_path / "other",)).find(ID, synthetic=True) is None


def test_hostile_lists(place: Path, tmp_path: Path) -> None:
    lists = place / PREPARED / "manifest.files"
    for path in ("public/../../../outside", "/etc/passwd", "private/answers.csv"):
        lists.write_text(f"{'0' * 64} 1 0 {json.dumps(path)}\n")
        result = pull(place, tmp_path / "other")
        assert result.exit_code == 3 and "is not a file of public/" in result.output
    lists.write_text("")
    assert "is not the list of its manifest" in pull(place, tmp_path / "other").output


def test_other_data_are_not_replaced(place: Path, tmp_path: Path) -> None:
    words = ["prepare", ID, "--synthetic", "--seed", "5", "--data", str(tmp_path / "mine")]
    assert mlecore(*words).exit_code == 0
    before = content(tmp_path / "mine")
    result = pull(place, tmp_path / "mine")
    assert result.exit_code == 2 and "holds other data" in result.output
    assert content(tmp_path / "mine") == before


def test_nothing_there(tmp_path: Path) -> None:
    result = pull(tmp_path / "empty", tmp_path / "other")
    assert result.exit_code == 2 and "has no data of spaceship-titanic" in result.output
    result = mlecore("data", "pull", "nosuch://x", ID, "--data", str(tmp_path / "other"))
    assert result.exit_code == 2 and "nosuch" in result.output


def test_a_place_in_memory(source: Path, tmp_path: Path) -> None:
    """Not only folders: whatever fsspec knows."""
    words = [ID, "--synthetic", "--data"]
    assert mlecore("data", "push", "memory://lab", *words, str(source)).exit_code == 0
    assert mlecore("data", "pull", "memory://lab", *words, str(tmp_path / "other")).exit_code == 0
    assert content(tmp_path / "other" / PREPARED / "public") == content(source / PREPARED / "public")
    shutil.rmtree(tmp_path / "other")


@pytest.mark.parametrize("folder", [False, True])
def test_a_leaderboard_from_a_table_gives_ranks_on_data_of_mle_bench(tmp_path: Path, folder: bool) -> None:
    table = tmp_path / "theirs" / ID / "leaderboard.csv"
    table.parent.mkdir(parents=True)
    table.write_text("teamId,scoreNullable,score\n7,,0.8\n8,,0.7\n9,,\n")
    words = ["data", "leaderboard", ID, "--data", str(tmp_path / "mine"), "--from"]
    result = mlecore(*words, str(tmp_path / "theirs" if folder else table))
    assert result.exit_code == 0 and "2 teams" in result.output, result.output
    theirs = tmp_path / "mle-bench" / ID / "prepared"
    for part in ("public", "private"):
        (theirs / part).mkdir(parents=True)
        (theirs / part / "a.csv").write_text("x")
    found = DataDirs((tmp_path / "mine", tmp_path / "mle-bench")).find(ID)
    assert found is not None and found.root == theirs and found.leaderboard is not None
    assert found.leaderboard.read_text() == "score\n0.8\n0.7\n"


@pytest.mark.parametrize("content", ["a,b\n1,2\n", "score\nhigh\n", "score\n", "score\n\xff\n"])
def test_what_is_no_leaderboard_is_rejected(tmp_path: Path, content: str) -> None:
    (tmp_path / "table.csv").write_text(content, encoding="latin-1")
    words = ["data", "leaderboard", ID, "--data", str(tmp_path), "--from"]
    for source in (tmp_path / "table.csv", tmp_path):  # the folder has no file for the competition
        result = mlecore(*words, str(source))
        assert result.exit_code == 2 and "leaderboard" in result.output, result.output
    assert DataDirs((tmp_path,)).leaderboard(ID) is None
