"""Herbarium 2021: a split of each species, new names, predictions cut to integers."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from mlecore.errors import DataError, InvalidSubmission
from mlecore.testing import Trial

pytestmark = pytest.mark.trial(size=0.1)


def test_each_species_is_split_by_itself(trial: Trial, answers: pd.DataFrame) -> None:
    train = json.loads((trial.public / "train/metadata.json").read_text())
    test = json.loads((trial.public / "test/metadata.json").read_text())
    raw = json.loads((trial.raw / "train/metadata.json").read_text())
    left = {name: (trial.raw / "train" / name).read_bytes() for name in (i["file_name"] for i in raw["images"])}
    kept = [annotation["category_id"] for annotation in train["annotations"]]
    counts = {kind: (kept.count(kind), int((answers["Predicted"] == kind).sum())) for kind in set(kept)}
    assert counts == {120: (1, 0), 3: (1, 1), 15504: (2, 1), 99: (3, 1), 0: (4, 1), 100: (4, 2), 7: (8, 3)} | {
        10000: (20, 5),
        9999: (24, 6),
        101: (32, 8),
    }
    for image in train["images"]:
        assert (trial.public / "train" / image["file_name"]).read_bytes() == left.pop(image["file_name"])
    assert len(test["images"]) == len(left) == len(answers)
    for number, image in enumerate(test["images"]):
        assert (image["id"], image["file_name"]) == (str(number), f"images/000/{number}.jpg")
        species = answers["Predicted"][number]
        found = (trial.public / "test" / image["file_name"]).read_bytes()
        assert found in [data for name, data in left.items() if f"/{species // 100:03}/{species % 100:02}/" in name]
    assert set(test) == {"images", "info", "licenses"}
    assert train["institutions"] == [{"id": 0, "name": "Jardín Botánico"}]


def test_lists_that_do_not_match_are_refused(trial: Trial, tmp_path: Path) -> None:
    metadata = json.loads((trial.raw / "train/metadata.json").read_text())
    metadata["images"].reverse()
    (tmp_path / "train").mkdir(parents=True)
    (tmp_path / "train/metadata.json").write_text(json.dumps(metadata))
    with pytest.raises(DataError, match="same pictures in the same order"):
        trial.competition.prepare(tmp_path, tmp_path / "public", tmp_path / "private")


def test_fractions_are_cut_off(trial: Trial, answers: pd.DataFrame) -> None:
    assert trial.grade(answers.assign(Predicted=answers["Predicted"] + 0.9)) == 1
    text = [f"{kind[0]}_{kind[1:]} " if len(kind) > 1 else kind for kind in answers["Predicted"].astype(str)]
    assert trial.grade(answers.assign(Predicted=text)) == 1
    with pytest.raises(InvalidSubmission, match="integers"):
        trial.grade(answers.assign(Predicted=[*text[:-1], "3.0"]))
