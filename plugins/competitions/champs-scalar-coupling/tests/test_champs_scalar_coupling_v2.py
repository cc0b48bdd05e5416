"""Predicting Molecular Properties, edition v2: all structures, and a floor of the error."""

from __future__ import annotations

import math
from collections import defaultdict

import numpy as np
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


def test_each_id_counts_once(trial: Trial, trial_v1: Trial, answers: pd.DataFrame) -> None:
    given = answers.assign(**{TARGET: 0.0})[["id", TARGET]]
    twice = pd.concat([given, given.head(1)])
    assert math.isfinite(trial_v1.grade(twice))
    trial.refuses(twice, "row")


@pytest.mark.slow
def test_it_agrees_with_the_definition(trial: Trial, answers: pd.DataFrame) -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        given = answers[TARGET].to_numpy() + rng.normal(scale=rng.choice([1e-12, 1.0]), size=len(answers))
        given[rng.random(len(answers)) < 0.1] = 0
        errors = defaultdict(list)
        for kind, right, said in zip(answers["type"], answers[TARGET].tolist(), given.tolist(), strict=True):
            errors[kind].append(abs(right - said))
        logs = [math.log(max(math.fsum(each) / len(each), 1e-9)) for each in errors.values()]
        frame = answers[["id"]].assign(**{TARGET: given}).sample(frac=1, random_state=1)
        assert abs(trial.competition.grade(frame, trial.private) - math.fsum(logs) / len(logs)) < 1e-9
