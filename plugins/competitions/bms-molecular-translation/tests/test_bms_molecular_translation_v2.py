"""BMS, edition v2: no extra InChI is one of a test image's."""

from __future__ import annotations

import pandas as pd
import pytest

from mlecore_testing import Trial

pytestmark = pytest.mark.trial(edition="v2")


def extra(trial: Trial) -> list[str]:
    return pd.read_csv(trial.public / "extra_approved_InChIs.csv")["InChI"].tolist()


def test_extra_names_are_not_those_of_test_images(trial: Trial, trial_v1: Trial, answers: pd.DataFrame) -> None:
    right = set(answers["InChI"])
    assert right & set(extra(trial_v1))
    assert extra(trial) == [name for name in extra(trial_v1) if name not in right]


def test_an_extra_name_may_be_missing(trial: Trial) -> None:
    raw = trial.raw_copy()
    with (raw / "extra_approved_InChIs.csv").open("a") as file:
        file.write("NA\n")
    public, _ = trial.prepare(raw)
    assert (public / "extra_approved_InChIs.csv").read_text().endswith('\n""\n')
