"""Toxic comments: rows that are not scored, columns that count by their place, ids that are hardly compared."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import mlecore
from mlecore.errors import DataError
from mlecore.prepare import ZipWriter
from mlecore.testing import Trial, check_competition

TOXIC = mlecore.competition("jigsaw-toxic-comment-classification-challenge")
CLASSES = ["toxic", "severe_toxic", "obscene", "threat", "insult", "identity_hate"]


@pytest.fixture(scope="module")
def trial(tmp_path_factory: pytest.TempPathFactory) -> Trial:
    return Trial("jigsaw-toxic-comment-classification-challenge", tmp_path_factory.mktemp("toxic"), size=0.1)


@pytest.fixture
def answers(trial: Trial) -> pd.DataFrame:
    return pd.read_csv(trial.private / "test.csv")


@pytest.mark.slow
def test_conformance() -> None:
    check_competition("jigsaw-toxic-comment-classification-challenge")


def test_tables_are_written_anew(trial: Trial) -> None:
    for raw, table in (("train", "public/train.csv"), ("test", "public/test.csv"), ("test_labels", "private/test.csv")):
        with zipfile.ZipFile(trial.raw / f"{raw}.csv.zip") as archive, archive.open(f"{raw}.csv") as member:
            assert (trial.folder / table).read_bytes() == pd.read_csv(member).to_csv(index=False).encode()
    train = pd.read_csv(trial.public / "train.csv")
    assert train["comment_text"].isna().any()  # a comment that is just NA is lost
    assert train["comment_text"].str.contains("\n").any()
    assert '"' not in (trial.public / "train.csv").read_text().splitlines()[0]


def test_the_sample_keeps_the_order_of_its_columns(trial: Trial, tmp_path: Path) -> None:
    raw = tmp_path / "raw"
    raw.mkdir()
    for name in ("train", "test", "test_labels"):
        (raw / f"{name}.csv.zip").write_bytes((trial.raw / f"{name}.csv.zip").read_bytes())
    ids = pd.read_csv(trial.private / "test.csv")["id"]
    turned = pd.DataFrame({"id": ids, **dict.fromkeys(reversed(CLASSES), 0)})
    with ZipWriter(raw / "sample_submission.csv.zip") as archive:
        archive.add("sample_submission.csv", turned.to_csv(index=False).encode())
    TOXIC.prepare(raw, tmp_path / "public", tmp_path / "private")
    sample = pd.read_csv(tmp_path / "public" / "sample_submission.csv")
    assert list(sample.columns) == ["id", *reversed(CLASSES)]
    with ZipWriter(raw / "sample.zip") as archive:
        archive.add("sample_submission.csv", turned[1:].to_csv(index=False).encode())
    (raw / "sample.zip").rename(raw / "sample_submission.csv.zip")
    with pytest.raises(DataError, match="differ in length"):
        TOXIC.prepare(raw, tmp_path / "public2", tmp_path / "private2")


def test_scores(trial: Trial, answers: pd.DataFrame) -> None:
    scored = answers["toxic"] >= 0
    assert trial.grade(answers) == 1
    assert trial.grade(answers.sample(frac=1, random_state=0)[[*CLASSES, "id"]]) == 1
    noise = answers.astype(dict.fromkeys(CLASSES, object))
    noise.loc[~scored, CLASSES] = "anything"
    assert trial.grade(noise) == 1
    noise.loc[~scored, CLASSES] = np.nan
    assert trial.grade(noise) == 1
    turned = answers[["id", *reversed(CLASSES)]]
    assert trial.grade(turned) < 0.9  # by place, not by name
    assert any("by their place" in w for w in trial.check(turned))


def test_ids_are_hardly_compared(trial: Trial, answers: pd.DataFrame) -> None:
    scored = answers.index[answers["toxic"] >= 0]
    unscored = answers.index[answers["toxic"] < 0]
    accident = answers.copy()
    accident.loc[unscored[0], "id"] = answers["id"][unscored[1]]
    assert trial.grade(accident) == 1
    assert any("repeated" in w for w in trial.check(accident))
    accident.loc[scored[0], "id"] = answers["id"][unscored[1]]
    with pytest.raises(mlecore.InvalidSubmission, match="repeated"):
        trial.grade(accident)


@pytest.mark.parametrize("value", [None, "inf", "bad", "True", "1e400"])
def test_scored_values_are_finite_numbers(trial: Trial, answers: pd.DataFrame, value: object) -> None:
    bad = answers.astype({"threat": object})
    place = answers.index[answers["toxic"] >= 0][3]
    bad.loc[place, "threat"] = value
    with pytest.raises(mlecore.InvalidSubmission, match=f"threat.*{answers['id'][place]}"):
        trial.grade(bad)


def test_answers_scored_in_part_fail_every_submission(answers: pd.DataFrame, tmp_path: Path) -> None:
    answers.loc[0, CLASSES] = [1, 1, -1, 0, 0, 0]
    answers.to_csv(tmp_path / "test.csv", index=False)
    with pytest.raises(mlecore.InvalidSubmission, match="every submission fails"):
        TOXIC.grade(tmp_path / "test.csv", tmp_path)


def test_refused_with_and_without_answers(trial: Trial, answers: pd.DataFrame) -> None:
    for bad in (
        answers.assign(note=1),
        answers.drop(columns="insult"),
        answers.drop(columns="id"),
        answers.iloc[1:],
        answers.assign(id=["nope", *answers["id"][1:]]),
        answers.assign(id=range(len(answers))),
        answers.iloc[:0],
    ):
        with pytest.raises(mlecore.InvalidSubmission):
            trial.grade(bad)
        with pytest.raises(mlecore.InvalidSubmission):
            trial.check(bad)
