"""Herbarium 2020, edition v2: names are read as they are written, and ids of images are numbers."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from mlecore_testing import Trial

pytestmark = pytest.mark.trial(edition="v2")


def metadata(folder: Path, part: str) -> dict[str, list[dict[str, object]]]:
    found: dict[str, list[dict[str, object]]] = json.loads(
        (folder / f"nybg2020/{part}/metadata.json").read_text(encoding="utf-8")
    )
    return found


def test_ids_are_numbers(trial: Trial, trial_v1: Trial, answers: pd.DataFrame) -> None:
    test, published = (metadata(one.public, "test") for one in (trial, trial_v1))
    assert [image["id"] for image in published["images"]] == [str(id) for id in answers["Id"]]
    assert [image["id"] for image in test["images"]] == answers["Id"].tolist()
    assert [{**image, "id": str(image["id"])} for image in test["images"]] == published["images"]


def test_names_are_right(trial: Trial, trial_v1: Trial) -> None:
    raw = metadata(trial.raw, "train")
    train, published = (metadata(one.public, "train") for one in (trial, trial_v1))
    assert [region["name"] for region in published["regions"]] == ["QuÃ©bec"]
    assert (train["regions"], train["categories"]) == (raw["regions"], raw["categories"])


def test_bytes_that_are_not_utf8(trial: Trial) -> None:
    raw = trial.raw_copy()
    path = raw / "nybg2020" / "train" / "metadata.json"
    path.write_bytes(path.read_bytes().replace("Québec".encode(), b"Qu\xe9bec"))
    public, _ = trial.prepare(raw)
    assert metadata(public, "train")["regions"] == [{"id": 1, "name": "Qu\ufffdbec"}]
