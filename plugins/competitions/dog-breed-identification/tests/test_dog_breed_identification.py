"""Dog Breed Identification: one-hot answers of 120 breeds, rows that add up to 1."""

from __future__ import annotations

import math
from pathlib import Path

import pandas as pd
import pytest

import mlecore
from mlecore.errors import DataError
from mlecore.testing import Trial, check_competition

DOGS = mlecore.competition("dog-breed-identification")


@pytest.fixture(scope="module")
def trial(tmp_path_factory: pytest.TempPathFactory) -> Trial:
    return Trial("dog-breed-identification", tmp_path_factory.mktemp("dogs"), size=0.1)


@pytest.fixture
def answers(trial: Trial) -> pd.DataFrame:
    return pd.read_csv(trial.private / "test.csv")


@pytest.mark.slow
def test_conformance() -> None:
    check_competition("dog-breed-identification")


def test_tables_and_photographs(trial: Trial, answers: pd.DataFrame) -> None:
    from sklearn.model_selection import train_test_split

    train, test = train_test_split(pd.read_csv(trial.raw / "labels.csv"), test_size=0.1, random_state=0)
    assert (trial.public / "labels.csv").read_text() == train.to_csv(index=False)
    assert answers["id"].tolist() == test["id"].tolist()
    breeds = answers.columns[1:]
    assert len(breeds) == 120 and list(breeds) == sorted(breeds)
    assert answers[breeds].idxmax(axis=1).tolist() == test["breed"].tolist()
    assert (answers[breeds].sum(axis=1) == 1).all()
    sample = (trial.public / "sample_submission.csv").read_text().splitlines()
    assert sample[1] == f"{test['id'].iloc[0]}" + ",0.008333333333333333" * 120
    assert {p.stem for p in (trial.public / "test").iterdir()} == set(test["id"])
    assert {p.stem for p in (trial.public / "train").iterdir()} == set(train["id"])


def test_only_the_columns_of_the_sheet_are_handed_out(tmp_path: Path) -> None:
    (tmp_path / "raw" / "train").mkdir(parents=True)
    (tmp_path / "raw" / "labels.csv").write_text("more,breed,id\n" + "".join(f"note,pug,a{i}\n" for i in range(10)))
    for i in range(10):
        (tmp_path / "raw" / "train" / f"a{i}.jpg").write_bytes(b"")
    DOGS.prepare(tmp_path / "raw", tmp_path / "public", tmp_path / "private")
    assert (tmp_path / "public" / "labels.csv").read_text().startswith("id,breed\na")


@pytest.mark.parametrize("row", range(10))
def test_a_breed_outside_the_list_is_said(tmp_path: Path, row: int) -> None:
    breeds = ["wolf" if i == row else "pug" for i in range(10)]
    (tmp_path / "labels.csv").write_text("id,breed\n" + "".join(f"a{i},{breed}\n" for i, breed in enumerate(breeds)))
    with pytest.raises(DataError, match="wolf"):
        DOGS.prepare(tmp_path, tmp_path / "public", tmp_path / "private")


def test_scores(trial: Trial, answers: pd.DataFrame) -> None:
    sample = pd.read_csv(trial.public / "sample_submission.csv")
    breeds = list(sample.columns[1:])
    assert math.isclose(trial.grade(sample), math.log(120))
    shuffled = answers[[*reversed(breeds), "id"]].sample(frac=1, random_state=0).assign(note="x")
    assert trial.grade(shuffled) < 1e-15
    wrong = answers.assign(**dict.fromkeys(breeds, 0)).assign(beagle=1)  # no beagle in the synthetic data
    assert math.isclose(trial.grade(wrong), -math.log(2.220446049250313e-16))
    scaled = sample.assign(**dict.fromkeys(breeds, (1 + 1.05e-05) / 120))  # valid, and scored as it is
    assert math.isclose(trial.grade(scaled), math.log(120) - math.log1p(1.05e-5))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda t: t.assign(beagle=t["beagle"] + 1.2e-5), "add up to 1"),
        (lambda t: t.assign(**dict.fromkeys(t.columns[1:], 100 / 120)), "add up to 1"),
        (lambda t: t.assign(beagle=-0.1, pug=t["pug"] + 0.1 + 1 / 120), "from 0 to 1"),
        (lambda t: t.assign(pug=[None, *t["pug"][1:]]), "pug"),
        (lambda t: t.assign(pug=["much", *t["pug"][1:]]), "pug"),
        (lambda t: t.drop(columns="pug"), "pug"),
        (lambda t: t.drop(columns="id"), "id"),
        (lambda t: t.assign(id=["nope", *t["id"][1:]]), "not asked for"),
        (lambda t: t.iloc[1:], "rows"),
        (lambda t: t.iloc[:0], "rows"),
    ],
)
def test_refused(trial: Trial, change: object, reason: str) -> None:
    sample = pd.read_csv(trial.public / "sample_submission.csv")
    bad = change(sample)
    with pytest.raises(mlecore.InvalidSubmission, match=reason):
        trial.grade(bad)
