"""What a package holds of its owner's files: their names tell nothing, and they stay where they are unless asked."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from attrs import evolve
from drafts import PRICE, draft, metric, prepared
from mle_ext_own_data import writing
from mle_ext_own_data.draft import Draft, Reading, Split
from mle_ext_own_data.writing import write_competition

import mlecore
from mlecore_testing import check_competition
from mlecore_toolkit import ColumnSchema, encode, picture


def with_files(folder: Path, *, table: bool) -> Draft:
    """Pictures whose folders name the class, with or without a table."""
    (folder / "scans").mkdir()
    rows = []
    for number in range(60):
        label = ("cat", "dog")[number % 2]
        name = f"{label}/{number:02}.png"
        (folder / "scans" / label).mkdir(exist_ok=True)
        (folder / "scans" / name).write_bytes(encode(picture(np.random.RandomState(number), number % 2), "PNG"))
        rows.append((name, label))
    pd.DataFrame(rows, columns=["file", "class"]).to_csv(folder / "own.csv", index=False)
    columns = (
        ColumnSchema("file", "file", suffix=".png"),
        ColumnSchema("class", "category", values=("cat", "dog")),
    )
    more = {} if table else {"table": None, "reading": Reading(kind="folders")}
    return draft(
        folder,
        ("class",),
        files=folder / "scans",
        file_column="file",
        modality="image",
        task="binary",
        classes=("cat", "dog"),
        metric=metric("label"),
        columns=columns,
        drop=(),
        **more,
    )


@pytest.mark.parametrize("table", [True, False])
def test_files_get_names_that_do_not_tell_their_class(table: bool, install, tmp_path: Path) -> None:
    written = write_competition(with_files(tmp_path, table=table), tmp_path / "packages")
    competition = install(written)
    check_competition(competition, short=True)
    public, private = prepared(competition, tmp_path / "real")
    train, test, answers = (
        pd.read_csv(path) for path in (public / "train.csv", public / "test.csv", private / "test.csv")
    )
    assert len(train) + len(test) == 60
    for part, folder in ((train, "train"), (test.merge(answers), "test")):
        assert sorted(part["file"]) == sorted(path.name for path in (public / folder).iterdir())
        for row in part.itertuples():
            names = [f"scans/{row[-1]}/{number:02}.png" for number in range(60)]
            data = (public / folder / row.file).read_bytes()
            assert data in [(tmp_path / name).read_bytes() for name in names if (tmp_path / name).exists()]
    assert not any(word in name for word in ("cat", "dog") for name in [*train["file"], *test["file"]])


def test_raw_data_stay_where_they_are_or_become_part_of_the_package(
    install, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = draft(tmp_path, (PRICE,))
    written = write_competition(own, tmp_path / "packages")
    subprocess.run(["git", "init", "-q", str(written.folder)], check=True)
    listed = subprocess.run(
        ["git", "-C", str(written.folder), "ls-files", "-o", "--exclude-standard"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert "competition.toml" in listed and "raw_data" not in listed
    committed = [written.folder / name for name in listed.splitlines()]
    assert not [path for path in committed if str(tmp_path) in path.read_text()]
    competition = install(written)
    shutil.move(tmp_path / "own.csv", tmp_path / "elsewhere.csv")
    with pytest.raises(mlecore.MlecoreError, match=r"not on this machine: own\.csv"):
        prepared(competition, tmp_path / "real")
    shutil.move(tmp_path / "elsewhere.csv", tmp_path / "own.csv")
    monkeypatch.setattr(writing, "_LARGE", 1000)
    included = write_competition(evolve(own, name="my-other"), tmp_path / "packages", include_data=True)
    (note,) = included.notes
    assert "too much for git" in note
    (tmp_path / "own.csv").unlink()
    prepared(install(included), tmp_path / "included")


def test_nothing_is_written_over_and_nothing_is_left_of_a_failure(tmp_path: Path) -> None:
    own = draft(tmp_path, (PRICE,))
    write_competition(own, tmp_path / "packages")
    with pytest.raises(mlecore.MlecoreError, match="already exists"):
        write_competition(own, tmp_path / "packages")
    with pytest.raises(mlecore.MlecoreError, match="cannot split"):
        write_competition(
            evolve(own, name="other", split=Split(by="time", column="x", test_size=0.2), time="a|b `c`\n"),
            tmp_path / "packages",
        )
    assert [path.name for path in (tmp_path / "packages").iterdir()] == ["mle-comp-my-own"]
