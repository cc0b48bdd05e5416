"""Toxic comments: rows that are not scored, columns that count by their place, ids that may repeat."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from mlecore import InvalidSubmission
from mlecore.errors import DataError
from mlecore.prepare import ZipWriter
from mlecore.testing import Trial

pytestmark = pytest.mark.trial(size=0.1)

CLASSES = ["toxic", "severe_toxic", "obscene", "threat", "insult", "identity_hate"]


def test_the_sample_keeps_the_order_of_its_columns(trial: Trial, answers: pd.DataFrame, tmp_path: Path) -> None:
    def prepare(sample: pd.DataFrame, name: str) -> pd.DataFrame:
        raw = shutil.copytree(trial.raw, tmp_path / name)
        (raw / "sample_submission.csv.zip").unlink()
        with ZipWriter(raw / "sample_submission.csv.zip") as archive:
            archive.add("sample_submission.csv", sample.to_csv(index=False).encode())
        trial.competition.prepare(raw, tmp_path / f"{name}-public", tmp_path / f"{name}-private")
        return pd.read_csv(tmp_path / f"{name}-public" / "sample_submission.csv")

    turned = answers[["id", *reversed(CLASSES)]]
    assert list(prepare(turned, "turned").columns) == ["id", *reversed(CLASSES)]
    with pytest.raises(DataError, match="differ in length"):
        prepare(turned[1:], "short")


def test_only_scored_rows_count(trial: Trial, answers: pd.DataFrame) -> None:
    noise = answers.astype(dict.fromkeys(CLASSES, object))
    for value in ("anything", np.nan):
        noise.loc[answers["toxic"] < 0, CLASSES] = value
        assert trial.grade(noise) == 1


def test_columns_count_by_their_place(trial: Trial, answers: pd.DataFrame) -> None:
    turned = answers[["id", *reversed(CLASSES)]]
    assert trial.grade(turned) < 0.9
    assert any("by their place" in warning for warning in trial.check(turned))


def test_ids_may_repeat_where_they_are_not_scored(trial: Trial, answers: pd.DataFrame) -> None:
    scored, unscored = answers.index[answers["toxic"] >= 0], answers.index[answers["toxic"] < 0]
    accident = answers.copy()
    accident.loc[unscored[0], "id"] = answers["id"][unscored[1]]
    assert trial.grade(accident) == 1
    assert any("repeated" in warning for warning in trial.check(accident))
    accident.loc[scored[0], "id"] = answers["id"][unscored[1]]
    with pytest.raises(InvalidSubmission, match="repeated"):
        trial.grade(accident)


@pytest.mark.parametrize("value", [None, "inf", "bad", "True", "1e400"])
def test_scored_values_are_finite_numbers(trial: Trial, answers: pd.DataFrame, value: object) -> None:
    bad = answers.astype({"threat": object})
    place = answers.index[answers["toxic"] >= 0][3]
    bad.loc[place, "threat"] = value
    with pytest.raises(InvalidSubmission, match=f"threat.*{answers['id'][place]}"):
        trial.grade(bad)


def test_answers_scored_in_part_fail_every_submission(trial: Trial, answers: pd.DataFrame, tmp_path: Path) -> None:
    answers.loc[0, CLASSES] = [1, 1, -1, 0, 0, 0]
    answers.to_csv(tmp_path / "test.csv", index=False)
    with pytest.raises(InvalidSubmission, match="every submission fails"):
        trial.competition.grade(tmp_path / "test.csv", tmp_path)
