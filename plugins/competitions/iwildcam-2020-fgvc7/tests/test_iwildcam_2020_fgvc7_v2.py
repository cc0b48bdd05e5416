"""iWildCam 2020, edition v2: the share that was meant, one row for each picture, new names, JSON that is JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from mle_comp_iwildcam_2020_fgvc7 import DETECTIONS, TEST, TRAIN

from mlecore_testing import Trial

pytestmark = pytest.mark.trial(edition="v2", size=0.3)


def loaded(folder: Path, name: str) -> Any:
    """The value of a file that is JSON by the standard."""

    def refuse(word: str) -> None:
        raise ValueError(word)

    return json.loads((folder / name).read_text(encoding="utf-8"), parse_constant=refuse)


def test_the_share_of_the_test_part(trial: Trial, trial_v1: Trial) -> None:
    shares = []
    for one in (trial_v1, trial):
        train, test = (json.loads((one.public / name).read_text())["images"] for name in (TRAIN, TEST))
        sizes = pd.Series([image["location"] for image in train + test]).value_counts()
        assert not {image["location"] for image in train} & {image["location"] for image in test}
        shares.append(len(test) / (len(train) + len(test)))
    assert shares[1] <= 0.22 < shares[1] + sizes.max() / sizes.sum()
    assert shares[0] > 0.22


def test_the_files_are_json(trial: Trial, trial_v1: Trial) -> None:
    for name in (TRAIN, TEST):
        with pytest.raises(ValueError, match="NaN"):
            loaded(trial_v1.public, name)
    raw = {image["id"]: image for image in loaded(trial.raw, TRAIN)["images"]}
    train = loaded(trial.public, TRAIN)
    assert all(image == raw[image["id"]] for image in train["images"])
    assert {note["image_id"] for note in train["annotations"]} == {image["id"] for image in train["images"]}


def test_test_pictures_have_new_names(trial: Trial, trial_v1: Trial, answers: pd.DataFrame) -> None:
    raw = loaded(trial.raw, TRAIN)
    old = {image["id"]: image for image in raw["images"]}
    kinds = {note["image_id"]: note["category_id"] for note in raw["annotations"]}
    assert set(pd.read_csv(trial_v1.public / "sample_submission.csv")["Id"]) <= set(old)
    names = dict(pd.read_csv(trial.private / "names.csv").to_numpy().tolist())
    text = "".join((trial.public / name).read_text() for name in (TEST, TRAIN, DETECTIONS))
    assert not any(id in text or old[id]["seq_id"] in text for id in names)
    test = {image["id"]: image for image in loaded(trial.public, TEST)["images"]}
    assert dict(answers.to_numpy().tolist()) == {new: kinds[before] for before, new in names.items()}
    for before, new in names.items():
        assert (trial.public / "test" / f"{new}.jpg").read_bytes() == (
            trial.raw / "train" / f"{before}.jpg"
        ).read_bytes()
        assert {**test[new], "id": "", "seq_id": ""} == {**old[before], "id": "", "seq_id": ""}
    seen = {entry["id"] for entry in loaded(trial.public, DETECTIONS)["images"]}
    assert seen == set(test) | {image["id"] for image in loaded(trial.public, TRAIN)["images"]}


def test_pictures_without_exactly_one_category_are_not_asked_for(trial: Trial, tmp_path: Path) -> None:
    raw = trial.raw_copy()
    value = loaded(raw, TRAIN)
    one, twice, none = pd.read_csv(trial.private / "names.csv")["old"][:3]
    kinds = {note["image_id"]: note["category_id"] for note in value["annotations"]}
    other = next(kind for kind in (0, 2) if kind != kinds[twice])
    notes = [note for note in value["annotations"] if note["image_id"] != none]
    notes += [{"image_id": one, "id": "again", "category_id": kinds[one]}]
    notes += [{"image_id": twice, "id": "more", "category_id": other}]
    (raw / TRAIN).write_text(json.dumps({**value, "annotations": notes}), encoding="utf-8")
    public, private = trial.prepare(raw)
    names = dict(pd.read_csv(private / "names.csv").to_numpy().tolist())
    assert one in names
    assert not {twice, none} & set(names)
    asked = set(names.values())
    assert asked == {image["id"] for image in loaded(public, TEST)["images"]}
    assert {f"{id}.jpg" for id in asked} == {path.name for path in (public / "test").iterdir()}
    assert asked == set(pd.read_csv(public / "sample_submission.csv")["Id"])
