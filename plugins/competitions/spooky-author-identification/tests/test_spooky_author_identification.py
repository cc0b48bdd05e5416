"""Spooky Author Identification: one-hot answers, rows that add up to 1, and the place of the id."""

from __future__ import annotations

import math
import zipfile

import pandas as pd
import pytest

import mlecore
from mlecore.testing import Trial, check_competition

AUTHORS = ["EAP", "HPL", "MWS"]


@pytest.fixture(scope="module")
def trial(tmp_path_factory: pytest.TempPathFactory) -> Trial:
    return Trial("spooky-author-identification", tmp_path_factory.mktemp("spooky"), size=0.1)


@pytest.fixture
def answers(trial: Trial) -> pd.DataFrame:
    return pd.read_csv(trial.private / "test.csv")


def test_conformance() -> None:
    check_competition("spooky-author-identification")


def test_tables(trial: Trial, answers: pd.DataFrame) -> None:
    from sklearn.model_selection import train_test_split

    with zipfile.ZipFile(trial.raw / "train.zip") as archive, archive.open("train.csv") as member:
        train, test = train_test_split(pd.read_csv(member), test_size=0.1, random_state=0)
    assert (trial.public / "train.csv").read_text() == train.to_csv(index=False)
    assert (trial.public / "test.csv").read_text() == test[["id", "text"]].to_csv(index=False)
    assert answers["id"].tolist() == test["id"].tolist()
    assert answers[AUTHORS].idxmax(axis=1).tolist() == test["author"].tolist()
    sample = (trial.public / "sample_submission.csv").read_text().splitlines()
    assert sample[1] == f"{test['id'].iloc[0]},0.403493538995863,0.287808366106543,0.308698094897594"


def test_scores(trial: Trial, answers: pd.DataFrame) -> None:
    assert trial.grade(answers) < 1e-15
    assert trial.grade(answers[["id", "MWS", "EAP", "HPL"]].sample(frac=1, random_state=0)) < 1e-15
    thirds = answers.assign(EAP=1 / 3, HPL=1 / 3, MWS=1 / 3)
    assert math.isclose(trial.grade(thirds), math.log(3))
    scaled = thirds.assign(MWS=1 / 3 + 1e-5)  # still within 1.1e-5, and not rescaled
    assert trial.grade(scaled) < math.log(3)
    wrong = answers[["id"]].join(answers[AUTHORS].set_axis(["HPL", "MWS", "EAP"], axis=1)[AUTHORS])
    assert math.isclose(trial.grade(wrong), -math.log(2.220446049250313e-16))
    assert trial.grade(answers[["id"]].join(answers[AUTHORS] == 1)) < 1e-15


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda t: t[["EAP", "HPL", "MWS", "id"]], "the first column must be id"),
        (lambda t: t.assign(EAP=0.33, HPL=0.33, MWS=0.33), "add up to 1"),
        (lambda t: t.assign(EAP=1 / 3, HPL=1 / 3, MWS=1 / 3 + 1.2e-5), "add up to 1"),
        (lambda t: t.assign(EAP=1.5, HPL=-0.5, MWS=0), "numbers from 0 to 1"),
        (lambda t: t.assign(EAP=[None, *t["EAP"][1:]]), "EAP"),
        (lambda t: t.assign(EAP=["much", *t["EAP"][1:]]), "EAP"),
        (lambda t: t.assign(note=0), "may not be there"),
        (lambda t: t.rename(columns={"EAP": "eap"}), "EAP"),
        (lambda t: t.assign(id=["id0", *t["id"][1:]]), "not asked for"),
        (lambda t: t.iloc[1:], "rows"),
        (lambda t: t.iloc[:0], "rows"),
    ],
)
def test_refused(trial: Trial, answers: pd.DataFrame, change: object, reason: str) -> None:
    with pytest.raises(mlecore.InvalidSubmission, match=reason):
        trial.grade(change(answers))
