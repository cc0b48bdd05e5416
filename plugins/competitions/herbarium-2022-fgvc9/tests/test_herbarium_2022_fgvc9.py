"""Herbarium 2022: new names for both parts, predictions cut to integers."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from mlecore.errors import InvalidSubmission
from mlecore.testing import Trial

pytestmark = pytest.mark.trial(size=0.1)


def test_pictures_get_new_names_in_both_parts(trial: Trial, answers: pd.DataFrame) -> None:
    train = json.loads((trial.public / "train_metadata.json").read_text())
    test = json.loads((trial.public / "test_metadata.json").read_text())
    raw = json.loads((trial.raw / "train_metadata.json").read_text())
    order = list(dict.fromkeys(annotation["category_id"] for annotation in raw["annotations"]))
    kept = [annotation["category_id"] for annotation in train["annotations"]]
    assert list(dict.fromkeys(kept)) == order != sorted(order)
    seen: dict[int, int] = {}
    for kind, annotation, image in zip(kept, train["annotations"], train["images"], strict=True):
        seen[kind] = seen.get(kind, 0) + 1
        name = f"{kind:05}__{seen[kind]:03}"
        assert annotation["image_id"] == image["image_id"] == name
        assert image["file_name"] == f"{kind // 100:03}/{kind % 100:02}/{name}.jpg"
    assert [image["image_id"] for image in test] == [str(number) for number in answers["Id"]]
    files = [(trial.public / "train_images" / image["file_name"]).read_bytes() for image in train["images"]]
    for image, kind in zip(test, answers["Predicted"], strict=True):
        files.append((trial.public / "test_images" / image["file_name"]).read_bytes())
        folder = trial.raw / "train_images" / f"{kind // 100:03}" / f"{kind % 100:02}"
        assert files[-1] in [path.read_bytes() for path in folder.iterdir()]
    assert test[3]["file_name"] == "000/test-000003.jpg"
    assert sorted(files) == sorted(path.read_bytes() for path in (trial.raw / "train_images").rglob("*.jpg"))


def test_fractions_are_cut_off(trial: Trial, answers: pd.DataFrame) -> None:
    assert trial.grade(answers.assign(Predicted=answers["Predicted"] + 0.9)) == 1
    text = [f"{kind[0]}_{kind[1:]} " if len(kind) > 1 else kind for kind in answers["Predicted"].astype(str)]
    assert trial.grade(answers.assign(Predicted=text)) == 1
    with pytest.raises(InvalidSubmission, match="integers"):
        trial.grade(answers.assign(Predicted=[*text[:-1], "3.0"]))
