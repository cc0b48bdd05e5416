"""HuBMAP, edition v2: no outlines of test images, and strict masks."""

from __future__ import annotations

import pandas as pd
import pytest

from mlecore_testing import Trial

pytestmark = pytest.mark.trial(edition="v2")


def test_no_outline_of_a_test_image_is_public(trial: Trial, trial_v1: Trial, answers: pd.DataFrame) -> None:
    for id in answers["id"]:
        assert (trial_v1.public / "test" / f"{id}.json").is_file()
        outlines = (trial.raw / "train" / f"{id}.json").read_bytes()
        assert outlines not in {path.read_bytes() for path in (trial.public / "test").iterdir()}
    kept = {f"{id}{kind}" for id in answers["id"] for kind in (".tiff", "-anatomical-structure.json")}
    assert {path.name for path in (trial.public / "test").iterdir()} == kept
    train = {path.name for path in (trial.public / "train").iterdir()}
    assert train == {path.name for path in (trial_v1.public / "train").iterdir()}


@pytest.mark.parametrize(("mask", "reason"), [("5 ", "odd number"), ("1 3 10", "odd number"), ("9999999 5", "within")])
def test_odd_masks_are_invalid(trial: Trial, trial_v1: Trial, perfect: pd.DataFrame, mask: str, reason: str) -> None:
    odd = perfect.assign(predicted=[mask, *perfect["predicted"][1:]])
    assert trial_v1.grade(odd) < 1
    trial.refuses(odd, reason)
