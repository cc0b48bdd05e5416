"""Optical Digits: real data from scikit-learn, split once and numbered so that the numbers say nothing."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from sklearn.datasets import load_digits

import mlecore
from mlecore.testing import Trial, check_competition


@pytest.fixture(scope="module")
def trial(tmp_path_factory: pytest.TempPathFactory) -> Trial:
    return Trial("optical-digits", tmp_path_factory.mktemp("digits"))


def test_the_data_are_those_of_scikit_learn(trial: Trial) -> None:
    raw, digits = pd.read_csv(trial.raw / "digits.csv"), load_digits()
    assert (raw.drop(columns="digit").to_numpy() == digits.data).all()
    assert (raw["digit"] == digits.target).all()


def test_every_picture_is_in_one_part(trial: Trial) -> None:
    raw, train, test, answers = map(
        pd.read_csv,
        (trial.raw / "digits.csv", trial.public / "train.csv", trial.public / "test.csv", trial.private / "test.csv"),
    )
    assert list(test.columns) == list(train.columns.drop("digit"))
    both = pd.concat([train, test.merge(answers, on="id")])
    assert both["id"].tolist() == list(range(1797))
    columns = list(raw.columns)
    pd.testing.assert_frame_equal(*(t.sort_values(columns, ignore_index=True) for t in (both[columns], raw)))


def test_ids_do_not_follow_the_digits(trial: Trial) -> None:
    answers = pd.read_csv(trial.private / "test.csv")
    assert (answers["id"] % 10 == answers["digit"]).mean() < 0.2  # as in the file's own order it would often be


def test_a_simple_classifier_reads_most_of_them(trial: Trial) -> None:
    from sklearn.neighbors import KNeighborsClassifier

    train, test = pd.read_csv(trial.public / "train.csv"), pd.read_csv(trial.public / "test.csv")
    pixels = test.columns.drop("id")
    guess = KNeighborsClassifier(3).fit(train[pixels], train["digit"]).predict(test[pixels])
    assert trial.grade(test[["id"]].assign(digit=guess)) > 0.95
    assert trial.grade((trial.public / "sample_submission.csv").read_text()) < 0.2


@pytest.mark.parametrize("digit", ["", "three", "3.5"])
def test_a_digit_is_a_whole_number(trial: Trial, digit: str) -> None:
    lines = (trial.public / "sample_submission.csv").read_text().splitlines()
    with pytest.raises(mlecore.InvalidSubmission, match="digit"):
        trial.grade("\n".join([lines[0], lines[1].split(",")[0] + f",{digit}", *lines[2:]]))


def test_there_is_no_leaderboard_and_no_synthetic_data(trial: Trial, tmp_path: Path) -> None:
    assert trial.competition.facts.thresholds is None
    with pytest.raises(mlecore.MlecoreError, match="no synthetic data"):
        trial.competition.make_raw(tmp_path)


@pytest.mark.slow
def test_it_conforms() -> None:
    check_competition("optical-digits")
