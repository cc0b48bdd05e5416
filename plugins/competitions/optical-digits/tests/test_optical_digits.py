"""Optical Digits: real data from scikit-learn, split once and numbered so that the numbers say nothing."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from sklearn.datasets import load_digits

import mlecore
from mlecore.testing import check_competition

DIGITS = mlecore.competition("optical-digits")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """raw/, public/ and private/."""
    folder = tmp_path_factory.mktemp("digits")
    DIGITS.fetch(folder / "raw")
    DIGITS.prepare(folder / "raw", folder / "public", folder / "private")
    return folder


def test_the_data_are_those_of_scikit_learn(data: Path) -> None:
    raw, digits = pd.read_csv(data / "raw" / "digits.csv"), load_digits()
    assert (raw.drop(columns="digit").to_numpy() == digits.data).all()
    assert (raw["digit"] == digits.target).all()


def test_every_picture_is_in_one_part(data: Path) -> None:
    raw, train, test, answers = (
        pd.read_csv(data / table)
        for table in ("raw/digits.csv", "public/train.csv", "public/test.csv", "private/test.csv")
    )
    assert list(test.columns) == list(train.columns.drop("digit"))
    both = pd.concat([train, test.merge(answers, on="id")])
    assert both["id"].tolist() == list(range(1797))
    columns = list(raw.columns)
    pd.testing.assert_frame_equal(*(t.sort_values(columns, ignore_index=True) for t in (both[columns], raw)))


def test_ids_do_not_follow_the_digits(data: Path) -> None:
    answers = pd.read_csv(data / "private" / "test.csv")
    assert (answers["id"] % 10 == answers["digit"]).mean() < 0.2  # as in the file's own order it would often be


def test_a_simple_classifier_reads_most_of_them(data: Path, tmp_path: Path) -> None:
    from sklearn.neighbors import KNeighborsClassifier

    train, test = pd.read_csv(data / "public" / "train.csv"), pd.read_csv(data / "public" / "test.csv")
    pixels = test.columns.drop("id")
    guess = KNeighborsClassifier(3).fit(train[pixels], train["digit"]).predict(test[pixels])
    path = tmp_path / "submission.csv"
    test[["id"]].assign(digit=guess).to_csv(path, index=False)
    assert DIGITS.check(path, data / "public") == []
    assert DIGITS.grade(path, data / "private") > 0.95
    assert DIGITS.grade(data / "public" / "sample_submission.csv", data / "private") < 0.2


@pytest.mark.parametrize("digit", ["", "three", "3.5"])
def test_a_digit_is_a_whole_number(data: Path, tmp_path: Path, digit: str) -> None:
    lines = (data / "public" / "sample_submission.csv").read_text().splitlines()
    path = tmp_path / "submission.csv"
    path.write_text("\n".join([lines[0], lines[1].split(",")[0] + f",{digit}", *lines[2:]]))
    for refuses in (lambda: DIGITS.check(path, data / "public"), lambda: DIGITS.grade(path, data / "private")):
        with pytest.raises(mlecore.InvalidSubmission, match="digit"):
            refuses()


def test_there_is_no_leaderboard_and_no_stand_in(tmp_path: Path) -> None:
    assert DIGITS.facts.thresholds is None
    with pytest.raises(mlecore.MlecoreError, match="no stand-in"):
        DIGITS.make_raw(tmp_path)


@pytest.mark.slow
def test_it_conforms() -> None:
    check_competition("optical-digits")
