"""Predicting Molecular Properties: what is known of test molecules, and the logarithm without a floor."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from mlecore.errors import DataError
from mlecore.testing import Trial

pytestmark = pytest.mark.trial(size=0.1)

TARGET = "scalar_coupling_constant"


def test_molecules_stay_together_in_the_order_of_the_split(trial: Trial, answers: pd.DataFrame) -> None:
    raw = pd.read_csv(trial.raw / "train.csv")
    assert answers["molecule_name"].drop_duplicates().is_monotonic_increasing is False
    for name, part in answers.groupby("molecule_name", sort=False):
        assert part["id"].tolist() == raw.loc[raw["molecule_name"] == name, "id"].tolist()
    assert (answers["molecule_name"] != answers["molecule_name"].shift()).sum() == 3


def test_only_train_molecules_are_described(trial: Trial) -> None:
    train = pd.read_csv(trial.public / "train.csv")
    raw = pd.read_csv(trial.raw / "structures.csv")
    described = pd.read_csv(trial.public / "structures.csv")
    assert set(described["molecule_name"]) == set(train["molecule_name"])
    assert {path.stem for path in (trial.public / "structures").iterdir()} == set(train["molecule_name"])
    assert raw["molecule_name"].nunique() == train["molecule_name"].nunique() + 3 + 3  # of test, and Kaggle's own


def test_a_molecule_without_a_charge_is_refused(trial: Trial, tmp_path: Path) -> None:
    raw = tmp_path / "raw"
    raw.mkdir()
    for path in trial.raw.iterdir():
        (raw / path.name).symlink_to(path)
    charges = pd.read_csv(raw / "mulliken_charges.csv")
    gone = pd.read_csv(trial.public / "train.csv")["molecule_name"][0]
    (raw / "mulliken_charges.csv").unlink()
    charges[charges["molecule_name"] != gone].to_csv(raw / "mulliken_charges.csv", index=False)
    with pytest.raises(DataError, match=r"mulliken_charges.csv lacks 1 of the 27 molecules"):
        trial.competition.prepare(raw, tmp_path / "public", tmp_path / "private")


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
