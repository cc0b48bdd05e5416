"""iNaturalist 2019, edition v2: new ids and names, all labelled photographs, whole decimals."""

from __future__ import annotations

import tarfile
from hashlib import sha256
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from mlecore_testing import Trial
from mlecore_toolkit import members, read_json

pytestmark = pytest.mark.trial(edition="v2")


def contents(path: Path) -> dict[str, str]:
    """The checksum of each photograph, by its path in the archive."""
    with tarfile.open(path, "r:") as archive:  # not compressed
        return {m.name: sha256(archive.extractfile(m).read()).hexdigest() for m in archive}  # type: ignore[union-attr]


def images(trial: Trial, name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = read_json(trial.public / name)["images"]
    return found


def test_test_photographs_have_new_ids_and_names(trial: Trial, trial_v1: Trial, answers: pd.DataFrame) -> None:
    raw = read_json(trial.raw / "train2019.json")
    files = {image["id"]: image["file_name"] for image in raw["images"]}
    species = {note["image_id"]: note["category_id"] for note in raw["annotations"]}
    published = {Path(name).name for name in files.values()}
    assert {Path(image["file_name"]).name for image in images(trial_v1, "test2019.json")} <= published
    assert not {Path(image["file_name"]).name for image in images(trial, "test2019.json")} & published
    ids = dict(pd.read_csv(trial.private / "ids.csv").to_numpy().tolist())
    assert any(old != new for old, new in ids.items())
    now, before = contents(trial.public / "test2019.tar"), contents(trial_v1.public / "test2019.tar.gz")
    by_id = {image["id"]: image["file_name"] for image in images(trial, "test2019.json")}
    assert set(by_id.values()) == set(now)
    for old, new in ids.items():
        assert now[by_id[new]] == before[Path(files[old]).name]
        assert dict(answers.to_numpy().tolist())[new] == species[old]
    assert list(by_id) == sorted(by_id)


def test_every_labelled_photograph_is_in_the_archive(trial: Trial, trial_v1: Trial) -> None:
    train, extra = ({image["file_name"] for image in images(trial, f"{part}2019.json")} for part in ("train", "val"))
    assert extra
    assert not {f"train_val2019/{name}" for name in members(trial_v1.public / "train_val2019.tar.gz")} & extra
    assert set(members(trial.public / "train_val2019.tar")) == train | extra


def test_whole_decimals(trial: Trial, trial_v1: Trial, answers: pd.DataFrame) -> None:
    trial_v1.refuses(pd.read_csv(trial_v1.private / "answers.csv") + 0.0, "whole numbers")
    assert trial.grade(answers + 0.0) == 0
    words = [f"{kind} 1010 cat" for kind in answers["predicted"]]
    assert trial.grade(answers.assign(predicted=[f"{words[0]}", *words[1:]])) == 0
    for wrong in ("1010", "-1", "3.5 4", "cat", "", "inf", "True"):
        trial.refuses(answers.assign(predicted=[wrong, *words[1:]]), "from 0 to 1009")
    trial.refuses(answers.assign(predicted=True), "from 0 to 1009")
