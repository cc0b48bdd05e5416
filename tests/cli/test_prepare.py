"""`mlecore prepare` for data that need no account, as a newcomer would use it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from mlecore.cli import main


def mlecore(data: Path, *arguments: str) -> Result:
    return CliRunner().invoke(main, [*arguments, "--data", str(data)])


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    done = mlecore(folder, "prepare", "spaceship-titanic", "aerial-cactus-identification", "--synthetic", "--seed", "4")
    assert done.exit_code == 0, done.output
    return folder


@pytest.mark.slow
def test_several_synthetic_data_at_a_time(data: Path) -> None:
    for name in ("spaceship-titanic", "aerial-cactus-identification"):
        prepared = data / name / "synthetic" / "prepared"
        assert (prepared / "public" / "description.md").exists()
        assert json.loads((prepared / "manifest.json").read_text())["seed"] == 4


@pytest.mark.slow
def test_real_data_that_need_no_account_and_are_as_published(tmp_path: Path) -> None:
    done = mlecore(tmp_path, "prepare", "optical-digits", "--json")
    assert done.exit_code == 0
    (row,) = json.loads(done.stdout)
    assert (row["source"], row["verified"], row["state"]) == ("fetch", True, "prepared")


def test_what_is_there_is_listed(data: Path) -> None:
    rows = json.loads(mlecore(data, "data", "list", "--json").stdout)
    assert [(row["id"], row["synthetic"]) for row in rows] == [
        ("aerial-cactus-identification", True),
        ("spaceship-titanic", True),
    ]
    for split, ids in (("dev", ["spaceship-titanic"]), ("lite", ["aerial-cactus-identification"]), ("high", [])):
        rows = json.loads(mlecore(data, "data", "list", "--split", split, "--json").stdout)
        assert [row["id"] for row in rows] == ids
    text = mlecore(data, "data", "list").stdout
    assert "spaceship-titanic" in text and "synthetic" in text
    assert "Nothing is prepared" in mlecore(data / "nowhere", "data", "list").stdout


def test_what_is_there_can_be_checked(data: Path) -> None:
    done = mlecore(data, "data", "verify", "spaceship-titanic", "--synthetic")
    assert (done.exit_code, done.stdout) == (0, "spaceship-titanic: intact\n")
    (extra := data / "spaceship-titanic/synthetic/prepared/public/more.csv").write_text("")
    done = mlecore(data, "data", "verify", "spaceship-titanic", "--synthetic")
    extra.unlink()
    assert done.exit_code == 1 and "public/more.csv: does not belong there" in done.stdout
    done = mlecore(data, "data", "verify", "spaceship-titanic")
    assert done.exit_code == 2 and "mlecore prepare spaceship-titanic" in done.output


@pytest.mark.slow
def test_real_data_that_need_no_account_serve_as_synthetic(tmp_path: Path) -> None:
    assert mlecore(tmp_path, "prepare", "optical-digits", "spaceship-titanic", "--synthetic").exit_code == 0
    rows = json.loads(mlecore(tmp_path, "data", "list", "--json").stdout)
    assert [(row["id"], row["synthetic"]) for row in rows] == [("optical-digits", False), ("spaceship-titanic", True)]
    assert mlecore(tmp_path, "data", "verify", "optical-digits", "--synthetic").exit_code == 0
