"""RSNA mammography, edition v2: images of a breast agree."""

from __future__ import annotations

import pandas as pd
import pytest

from mlecore_testing import Trial

pytestmark = pytest.mark.trial(edition="v2")


def test_images_of_a_breast_must_agree(trial: Trial) -> None:
    raw = trial.raw_copy()
    table = pd.read_csv(raw / "train.csv")
    table.loc[0, "cancer"] = 1 - table["cancer"][0]
    table.to_csv(raw / "train.csv", index=False)
    trial.refuses_raw(raw, "1 breasts have images that differ")
