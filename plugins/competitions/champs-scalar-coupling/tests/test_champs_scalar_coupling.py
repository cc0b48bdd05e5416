"""Predicting Molecular Properties: molecules without charges, and the logarithm without a floor."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from mlecore_testing import Trial

TARGET = "scalar_coupling_constant"


def test_a_molecule_without_a_charge_is_refused(trial: Trial) -> None:
    raw = trial.raw_copy()
    charges = pd.read_csv(raw / "mulliken_charges.csv")
    gone = pd.read_csv(trial.public / "train.csv")["molecule_name"][0]
    charges[charges["molecule_name"] != gone].to_csv(raw / "mulliken_charges.csv", index=False)
    trial.refuses_raw(raw, r"mulliken_charges.csv lacks 1 of the 27 molecules")


def test_scores(trial: Trial, answers: pd.DataFrame) -> None:
    errors = answers[TARGET].abs().groupby(answers["type"]).mean()
    assert math.isclose(trial.grade(answers.assign(**{TARGET: 0})), np.log(errors).mean())
    by_one = answers.assign(**{TARGET: answers[TARGET] + 1})
    assert trial.grade(by_one) == pytest.approx(0, abs=1e-12)
    perfect = by_one[TARGET].where(by_one["type"] != "1JHC", answers[TARGET])
    assert trial.grade(by_one.assign(**{TARGET: perfect})) == -math.inf


def test_a_repeated_id_counts_again(trial: Trial, answers: pd.DataFrame) -> None:
    by_one = answers.assign(**{TARGET: answers[TARGET] + 1})
    again = by_one.head(1).assign(**{TARGET: answers[TARGET][0] + 5})
    rows = (answers["type"] == answers["type"][0]).sum()
    types = answers["type"].nunique()
    assert math.isclose(trial.grade(pd.concat([by_one, again])), math.log((rows + 5) / (rows + 1)) / types)
