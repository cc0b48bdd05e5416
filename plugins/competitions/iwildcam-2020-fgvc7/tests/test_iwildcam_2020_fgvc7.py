"""iWildCam 2020: locations that move between the parts, and JSON through data frames."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pandas as pd
import pytest
from mlecore_testing import Trial


@pytest.mark.parametrize("seed", [0, 1])
def test_test_images_end_just_below_the_share(tmp_path: Path, seed: int) -> None:
    trial = Trial("iwildcam-2020-fgvc7", tmp_path, seed=seed, size=0.3)
    train, test = (
        json.loads((trial.public / f"iwildcam2020_{name}.json").read_text())
        for name in ("train_annotations", "test_information")
    )
    counts = pd.Series([image["location"] for image in test["images"]]).value_counts()
    total = len(train["images"]) + len(test["images"])
    share = len(test["images"]) / (total + len(test["images"]))
    assert share <= 0.22 < share + counts.max() / total
    assert not set(counts.index) & {image["location"] for image in train["images"]}
    answers = pd.read_csv(trial.private / "answers.csv")
    assert {f"{id}.jpg" for id in answers["Id"]} == {path.name for path in (trial.public / "test").iterdir()}
    assert any(math.isnan(image["height"]) for image in train["images"])
    assert 32.0 in {image["height"] for image in train["images"]}
    assert '"height": 32.0' in (trial.public / "iwildcam2020_train_annotations.json").read_text()
    assert math.isnan(train["categories"][0]["count"])
    assert test["categories"][1] == {"id": 2, "name": "TAYASSU PECARI"} and test["info"]["part"] == "test"
    assert list(train) == ["annotations", "images", "categories", "info"]


def test_other_keys_are_refused(trial: Trial, tmp_path: Path) -> None:
    known = json.loads((trial.raw / "iwildcam2020_train_annotations.json").read_text())
    (tmp_path / "iwildcam2020_train_annotations.json").write_text(json.dumps({**known, "more": []}))
    trial.refuses_raw(tmp_path, "has the keys")
