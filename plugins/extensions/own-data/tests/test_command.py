"""`mlecore new competition`: from an example, or from data all the way to the audit."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from mle_ext_own_data import installing
from mle_ext_own_data.command import command

from mlecore.errors import UsageError


def new(*words: str) -> Result:
    return CliRunner().invoke(command, ["my-table", *words])


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "table.csv"
    path.write_text("size,colour,ripe\n" + "".join(f"{i * 7 % 50},{'rgb'[i % 3]},{i % 2}\n" for i in range(60)))
    return path


@pytest.mark.parametrize(
    "words", [["--images", "--groups"], ["--target", "ripe"], ["--dry-run"], ["--images", "--from", "x"]]
)
def test_options_that_exclude_each_other(words: list[str], tmp_path: Path) -> None:
    done = new(*words, "--into", str(tmp_path))
    assert isinstance(done.exception, UsageError), done.output
    assert not list(tmp_path.iterdir())


def test_a_dry_run_shows_what_overrules_and_writes_nothing(table: Path) -> None:
    done = new("--from", str(table), "--target", "ripe", "--into", str(table.parent), "--dry-run")
    assert done.exit_code == 0, done.exception
    for words in ("binary", "roc-auc", "at random, by class", "--metric", "--group", "--test-size"):
        assert words in done.output
    assert list(table.parent.iterdir()) == [table]


@pytest.mark.parametrize("leaks", [0, 1])
def test_from_data_to_the_audit(leaks: int, table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    monkeypatch.setattr(installing, "install", lambda folder: done.append(f"install {folder.name}"))

    def mlecore(*words: str) -> int:
        done.append(" ".join(words))
        return leaks if words[0] == "audit" else 0

    monkeypatch.setattr(installing, "mlecore", mlecore)
    result = new("--from", str(table), "--target", "ripe", "--into", str(table.parent))
    assert result.exit_code == leaks, result.exception
    assert done == ["install mle-comp-my-table", "prepare my-table --force", "audit my-table"]
    assert (table.parent / "mle-comp-my-table" / "mle_comp_my_table" / "competition.toml").is_file()
    again = new("--from", str(table), "--target", "ripe", "--into", str(table.parent))
    assert isinstance(again.exception, UsageError)
    assert len(done) == 3
