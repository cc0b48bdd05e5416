"""Dogs vs. Cats Redux: new names for both parts, packed and unpacked."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pandas as pd
from mlecore_testing import Trial

from mlecore.prepare import ZipWriter


def test_names_follow_the_split(trial: Trial, answers: pd.DataFrame) -> None:
    from sklearn.model_selection import train_test_split

    with zipfile.ZipFile(trial.raw / "train.zip") as archive:
        photographs = {Path(name).name: archive.read(name) for name in archive.namelist()}
    train, test = train_test_split(sorted(photographs), test_size=0.1, random_state=0)
    cats, dogs = ([name for name in train if kind in name] for kind in ("cat", "dog"))
    new = {name: f"cat.{i}.jpg" for i, name in enumerate(cats)} | {name: f"dog.{i}.jpg" for i, name in enumerate(dogs)}
    expected = {new[name]: name for name in train}
    numbered = {f"{i}.jpg": name for i, name in enumerate(test, 1)}
    for folder, names in (("train", expected), ("test", numbered)):
        unpacked = {path.name: path.read_bytes() for path in (trial.public / folder).iterdir()}
        assert unpacked == {new: photographs[old] for new, old in names.items()}
        with zipfile.ZipFile(trial.public / f"{folder}.zip") as archive:
            assert archive.namelist() == list(names)  # the raw archive's order, cats first, would tell the labels
            assert {name: archive.read(name) for name in archive.namelist()} == unpacked
    assert answers["label"].tolist() == [int("dog" in name) for name in test]
    assert answers["id"].tolist() == list(range(1, len(test) + 1))


def test_kaggles_own_test_set_must_be_there(trial: Trial, tmp_path: Path) -> None:
    (tmp_path / "train.zip").write_bytes((trial.raw / "train.zip").read_bytes())
    trial.refuses_raw(tmp_path, r"test\.zip is missing")


def test_only_the_folder_train_counts(trial: Trial, tmp_path: Path) -> None:
    with ZipWriter(tmp_path / "train.zip") as archive:
        for number in range(10):
            archive.add(f"train/cat.{number}.jpg", b"cat")
            archive.add(f"train/dog.{number}.jpg", b"dog")
        for other in ("__MACOSX/train/._cat.0.jpg", "train/more/cat.10.jpg", "train/dog.10.JPG", "cat.11.jpg"):
            archive.add(other, b"not one of them")
    (tmp_path / "test.zip").write_bytes(b"")
    public, _ = trial.prepare(tmp_path)
    kept = [path.read_bytes() for folder in ("train", "test") for path in (public / folder).iterdir()]
    assert sorted(kept) == [b"cat"] * 10 + [b"dog"] * 10
