"""APTOS 2019: a kappa on the grades that occur."""

from __future__ import annotations

import math

import pandas as pd

from mlecore_testing import Trial


def test_kappa_of_the_grades_that_occur(trial: Trial) -> None:
    def kappa(*grades: list[object]) -> float:
        truth, predictions = (pd.DataFrame({"id_code": list("abcd")[: len(row)], "diagnosis": row}) for row in grades)
        return trial.grade(predictions, truth)

    assert kappa([0, 0, 4, 4], [0, 4, 4, 4]) == kappa([0, 0, 1, 1], [0, 1, 1, 1]) == 0.5  # places, not grades
    assert kappa([0, 1, 2, 3], [2, 2, 2, 2]) == 0
    assert math.isnan(kappa([2, 2], [2, 2]))
    assert kappa([0, 1, 0, 1], ["False", "True", "False", "True"]) == 1
    assert kappa([0, 1, 2, 4], [-1, 1, 2, 100]) < 1
