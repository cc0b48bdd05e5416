"""Optical Digits: the real data, split once and numbered so that the numbers say nothing."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import mlecore
from mlecore_testing import Trial


def test_the_data_are_those_of_scikit_learn(trial: Trial) -> None:
    from sklearn.datasets import load_digits

    raw, digits = pd.read_csv(trial.raw / "digits.csv"), load_digits()
    assert (raw.drop(columns="digit").to_numpy() == digits.data).all()
    assert (raw["digit"] == digits.target).all()


def test_every_picture_is_in_one_part(trial: Trial, answers: pd.DataFrame) -> None:
    raw, train, test = map(
        pd.read_csv, (trial.raw / "digits.csv", trial.public / "train.csv", trial.public / "test.csv")
    )
    both = pd.concat([train, test.merge(answers, on="id")])
    assert both["id"].tolist() == list(range(1797))
    columns = list(raw.columns)
    pd.testing.assert_frame_equal(*(t.sort_values(columns, ignore_index=True) for t in (both[columns], raw)))


def test_ids_do_not_follow_the_digits(answers: pd.DataFrame) -> None:
    assert (answers["id"] % 10 == answers["digit"]).mean() < 0.2  # in scikit-learn's order they often do


def test_there_are_neither_medals_nor_synthetic_data(trial: Trial, tmp_path: Path) -> None:
    assert trial.competition.facts.thresholds is None
    with pytest.raises(mlecore.MlecoreError, match="no synthetic data"):
        trial.competition.make_raw(tmp_path)
