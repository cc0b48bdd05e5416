"""Detecting Insults: text as id, tables passed on as they are, and what its grader takes."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import mlecore
from mlecore.errors import DataError
from mlecore.testing import check_competition

INSULTS = mlecore.competition("detecting-insults-in-social-commentary")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """raw/ (the stand-in), public/ and private/."""
    folder = tmp_path_factory.mktemp("insults")
    INSULTS.make_raw(folder / "raw", size=0.1)
    INSULTS.prepare(folder / "raw", folder / "public", folder / "private")
    return folder


@pytest.fixture
def gold(data: Path) -> pd.DataFrame:
    return pd.read_csv(data / "private" / "gold_submission.csv")


def grade(table: pd.DataFrame, data: Path, tmp_path: Path) -> float:
    table.to_csv(tmp_path / "submission.csv", index=False)
    return INSULTS.grade(tmp_path / "submission.csv", data / "private")


@pytest.mark.slow
def test_conformance() -> None:
    check_competition("detecting-insults-in-social-commentary")


def test_tables(data: Path) -> None:
    assert (data / "public" / "train.csv").read_bytes() == (data / "raw" / "train.csv").read_bytes()
    assert (data / "private" / "test.csv").read_bytes() == (data / "raw" / "test_with_solutions.csv").read_bytes()
    answers = pd.read_csv(data / "private" / "test.csv")
    expected = answers[["Insult", "Date", "Comment"]]
    assert (data / "private" / "gold_submission.csv").read_text() == expected.to_csv(index=False)
    assert (data / "public" / "test.csv").read_text() == answers[["Date", "Comment"]].to_csv(index=False)
    sample = (data / "public" / "sample_submission_null.csv").read_text()
    assert sample == expected.assign(Insult=0).to_csv(index=False)


def test_stand_in_has_the_corner_cases(data: Path) -> None:
    answers = pd.read_csv(data / "private" / "test.csv")
    assert answers["Comment"].str.startswith('"').all() and answers["Date"].isna().any()
    assert set(answers["Usage"]) == {"PublicTest", "PrivateTest"}
    repeated = answers[answers["Comment"].duplicated(keep=False)]
    assert sorted(repeated["Insult"]) == [0, 1]


def test_a_comment_in_both_tables_is_said(data: Path, tmp_path: Path) -> None:
    raw = tmp_path / "raw"
    raw.mkdir()
    (raw / "train.csv").write_text('Insult,Date,Comment\n0,,"""same"""\n')
    (raw / "test_with_solutions.csv").write_text('Insult,Date,Comment,Usage\n1,,"""same""",PublicTest\n')
    (tmp_path / "public").mkdir()
    (tmp_path / "private").mkdir()
    with pytest.raises(DataError, match="comments of train and test"):
        INSULTS.prepare(raw, tmp_path / "public", tmp_path / "private")


def test_scores(data: Path, gold: pd.DataFrame, tmp_path: Path) -> None:
    assert grade(gold, data, tmp_path) == 1
    assert grade(gold.assign(Insult=1 - gold["Insult"]), data, tmp_path) == 0
    assert grade(pd.read_csv(data / "private" / "test.csv"), data, tmp_path) == 1
    assert grade(gold[["Comment", "Insult"]].assign(note="x"), data, tmp_path) == 1
    assert grade(gold.assign(Insult=gold["Insult"] == 1), data, tmp_path) == 1
    assert grade(pd.read_csv(data / "public" / "sample_submission_null.csv"), data, tmp_path) == 0.5


@pytest.mark.parametrize("value", [None, "rude", -0.1, 1.5, "inf", "1_0"])
def test_predictions_are_numbers_from_0_to_1(data: Path, gold: pd.DataFrame, tmp_path: Path, value: object) -> None:
    bad = gold.astype({"Insult": object})
    bad.loc[0, "Insult"] = value
    with pytest.raises(mlecore.InvalidSubmission, match="Insult"):
        grade(bad, data, tmp_path)


def test_comments_are_exactly_those_of_the_test_set(data: Path, gold: pd.DataFrame, tmp_path: Path) -> None:
    trimmed = gold.assign(Comment=gold["Comment"].str.strip('"'))
    numbers = gold.assign(Comment=range(len(gold)))
    mixed = gold.assign(Comment=[None, *gold["Comment"][1:]])
    for bad in (trimmed, numbers, mixed, gold.iloc[1:], gold.drop(columns="Comment"), gold.drop(columns="Insult")):
        with pytest.raises(mlecore.InvalidSubmission):
            grade(bad, data, tmp_path)
