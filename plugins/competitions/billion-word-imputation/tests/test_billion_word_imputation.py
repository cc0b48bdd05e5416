"""Billion Word Imputation: one draw a line, the word that goes, and text that must be text."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from mlecore import InvalidSubmission
from mlecore.testing import Trial

pytestmark = pytest.mark.trial(size=0.5)


def member(path: Path) -> str:
    with zipfile.ZipFile(path) as archive:
        assert archive.namelist() == [path.name.removesuffix(".zip")]
        return archive.read(path.name.removesuffix(".zip")).decode()


def test_one_word_is_gone_from_each_sentence(trial: Trial, answers: pd.DataFrame) -> None:
    shown = pd.read_csv(io.StringIO(member(trial.public / "test_v2.txt.zip")))
    assert shown["id"].tolist() == answers["id"].tolist() == list(range(len(answers)))
    for left, whole in zip(shown["sentence"], answers["sentence"], strict=True):
        words = whole.replace('"', '""').split()
        assert left.replace('"', '""').split() in [words[:i] + words[i + 1 :] for i in range(1, len(words) - 1)]
    kept = member(trial.public / "train_v2.txt.zip").splitlines()
    raw = member(trial.raw / "train_v2.txt.zip").splitlines()
    assert sorted([*(line.strip() for line in kept), *answers["sentence"]]) == sorted(line.strip() for line in raw)
    assert (trial.private / "sample_submission.csv").read_text() == member(trial.public / "test_v2.txt.zip")


def test_odd_lines(trial: Trial, tmp_path: Path) -> None:
    lines = ["x y z .\r\n"] * 400
    tested = np.flatnonzero(np.random.RandomState(0).uniform(size=400) <= 0.01)
    lines[tested[0]] = " one\u00a0word? \r"
    with zipfile.ZipFile(tmp_path / "train_v2.txt.zip", "w") as archive:
        archive.writestr("train_v2.txt", "".join(lines) + "end")
    public, private = tmp_path / "public", tmp_path / "private"
    trial.competition.prepare(tmp_path, public, private)
    train = member(public / "train_v2.txt.zip")
    assert train.endswith("x y z .\nend") and "\r" not in train
    assert " one\u00a0word? \n" in train  # two words: not for the test, and no second draw


@pytest.mark.parametrize("value", ["", "NA", "#N/A N/A"])
def test_a_missing_sentence_is_refused(trial: Trial, answers: pd.DataFrame, value: str) -> None:
    answers.loc[3, "sentence"] = value
    with pytest.raises(InvalidSubmission, match="id 3: missing"):
        trial.grade(answers)


def test_scores(trial: Trial, answers: pd.DataFrame) -> None:
    assert trial.grade(answers.assign(id=answers["id"].astype(float)).sample(frac=1, random_state=1)) == 0
    assert trial.grade(answers.assign(sentence=answers["sentence"] + "漢𝄞")) == 2  # characters, not bytes
    assert trial.grade(answers.assign(sentence=["7" if i else "a" for i in answers["id"]])) > 5
    with pytest.raises(InvalidSubmission, match="must hold text"):
        trial.grade(answers.assign(sentence=7))
