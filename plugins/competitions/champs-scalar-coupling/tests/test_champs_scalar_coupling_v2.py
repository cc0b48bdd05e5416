"""Predicting Molecular Properties, edition v2: all structures, and a floor of the error."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from mlecore_testing import Trial

pytestmark = pytest.mark.trial(edition="v2")
TARGET = "scalar_coupling_constant"


def without_structure(trial: Trial) -> set[str]:
    asked = set(pd.read_csv(trial.public / "test.csv")["molecule_name"])
    table = set(pd.read_csv(trial.public / "structures.csv")["molecule_name"])
    files = {path.stem for path in (trial.public / "structures").iterdir()}
    assert table == files
    return asked - table


def test_test_molecules_have_structures(trial: Trial, trial_v1: Trial, answers: pd.DataFrame) -> None:
    assert without_structure(trial_v1) == set(answers["molecule_name"])
    assert without_structure(trial) == set()
    for name in ("train.csv", "test.csv", "dipole_moments.csv", "scalar_coupling_contributions.csv"):
        assert (trial.public / name).read_bytes() == (trial_v1.public / name).read_bytes()


def test_a_perfect_type_has_a_score(trial: Trial, trial_v1: Trial, answers: pd.DataFrame) -> None:
    assert trial_v1.grade(answers[["id", TARGET]]) == -math.inf
    assert math.isclose(trial.grade(answers[["id", TARGET]]), math.log(1e-9))
