"""BMS, edition v2: no extra InChI is one of a test image's, and none is missing."""

from __future__ import annotations

import numpy as np
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


def test_a_missing_name_is_invalid(trial: Trial, trial_v1: Trial, answers: pd.DataFrame) -> None:
    gap = answers.assign(InChI=answers["InChI"].where(answers.index != 2))
    assert trial_v1.grade(gap) > 0
    trial.refuses(gap, str(answers["image_id"][2]))


@pytest.mark.slow
def test_it_agrees_with_the_definition(trial: Trial) -> None:
    def distance(a: str, b: str) -> int:
        row = list(range(len(b) + 1))
        for i, x in enumerate(a, 1):
            left, row[0] = row[0], i
            for j, y in enumerate(b, 1):
                left, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, left + (x != y))
        return row[-1]

    rng = np.random.default_rng(0)
    truth = pd.DataFrame({"image_id": ["00a", "00b", "00c"], "InChI": ["InChI=1S/C", "InChI=1S/C2H6", "InChI=1S/O"]})
    for _ in range(200):
        given = ["InChI=" + "".join(rng.choice([*"1S/CHO26"], rng.integers(0, 9))) for _ in range(3)]
        expected = sum(map(distance, truth["InChI"], given)) / 3
        assert abs(trial.grade(truth.assign(InChI=given), truth) - expected) < 1e-9
