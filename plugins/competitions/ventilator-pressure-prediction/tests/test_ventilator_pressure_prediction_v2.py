"""Ventilator Pressure, edition v2: every row holds a number; the score is that of v1."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from mlecore_testing import Trial

pytestmark = pytest.mark.trial(edition="v2")


@pytest.mark.parametrize("cell", [None, "word", math.inf])
def test_rows_that_are_not_scored_must_hold_numbers(
    trial: Trial, trial_v1: Trial, answers: pd.DataFrame, cell: object
) -> None:
    given = answers[["id"]].assign(pressure=answers["pressure"].astype(object).where(answers["u_out"] == 0, cell))
    assert trial_v1.grade(given) == 0
    trial.refuses(given, "pressure")


def test_only_the_inspiratory_phase_is_scored(trial: Trial, answers: pd.DataFrame) -> None:
    given = answers[["id"]].assign(pressure=answers["pressure"] + 3 + 100 * answers["u_out"])
    assert math.isclose(trial.grade(given.sample(frac=1, random_state=0)), 3)
