"""Spaceship Titanic: its split, its typing of truth values, and what its grader takes."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import mlecore
from mlecore.testing import check_competition

SPACESHIP = mlecore.competition("spaceship-titanic")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """raw/ (the stand-in), public/ and private/."""
    folder = tmp_path_factory.mktemp("spaceship")
    SPACESHIP.make_raw(folder / "raw", size=0.2)
    SPACESHIP.prepare(folder / "raw", folder / "public", folder / "private")
    return folder


@pytest.fixture
def answers(data: Path) -> pd.DataFrame:
    return pd.read_csv(data / "private" / "test.csv")[["PassengerId", "Transported"]]


def grade(table: pd.DataFrame, data: Path, tmp_path: Path) -> float:
    """The score; checked as well, which must agree on what is valid."""
    path = tmp_path / "submission.csv"
    table.to_csv(path, index=False)
    try:
        SPACESHIP.check(path, data / "public")
    except mlecore.InvalidSubmission:
        with pytest.raises(mlecore.InvalidSubmission):
            SPACESHIP.grade(path, data / "private")
        raise
    return SPACESHIP.grade(path, data / "private")


def put(table: pd.DataFrame, value: object) -> pd.DataFrame:
    """One cell replaced, the others as they are."""
    changed = table.astype({"Transported": object})
    changed.loc[2, "Transported"] = value
    return changed


def test_rows_are_split_as_published_and_cells_keep_their_text(data: Path) -> None:
    from sklearn.model_selection import train_test_split

    header, *lines = (data / "raw" / "train.csv").read_text().splitlines(keepends=True)
    train, test = train_test_split(lines, test_size=0.1, random_state=0)
    assert (data / "public" / "train.csv").read_text() == header + "".join(train)
    assert (data / "private" / "test.csv").read_text() == header + "".join(test)


def test_the_public_test_table_has_no_target(data: Path) -> None:
    public, private = pd.read_csv(data / "public" / "test.csv"), pd.read_csv(data / "private" / "test.csv")
    pd.testing.assert_frame_equal(public, private.drop(columns="Transported"))
    sample = pd.read_csv(data / "public" / "sample_submission.csv")
    assert sample["PassengerId"].equals(private["PassengerId"])
    assert not sample["Transported"].any()


def test_truth_is_spelled_in_many_ways(data: Path, answers: pd.DataFrame, tmp_path: Path) -> None:
    text = answers["Transported"].map({True: "TRUE", False: "fAlSe"})
    for spelling in (answers["Transported"], text, answers["Transported"].astype(int), answers["Transported"] * 1.0):
        assert grade(answers.assign(Transported=spelling), data, tmp_path) == 1
    assert grade(answers.assign(Transported=~answers["Transported"]), data, tmp_path) == 0


@pytest.mark.parametrize("value", [2, -1, 7.0])
def test_another_whole_number_is_wrong_but_valid(
    data: Path, answers: pd.DataFrame, tmp_path: Path, value: float
) -> None:
    numbers = answers.assign(Transported=answers["Transported"].astype(int))
    assert grade(put(numbers, value), data, tmp_path) == pytest.approx(1 - 1 / len(answers), abs=1e-12)


@pytest.mark.parametrize("value", ["yes", " True", "", "None", 1])
def test_one_odd_cell_spoils_a_column_of_truth_values(
    data: Path, answers: pd.DataFrame, tmp_path: Path, value: object
) -> None:
    with pytest.raises(mlecore.InvalidSubmission, match="Transported"):
        grade(put(answers, value), data, tmp_path)


@pytest.mark.parametrize("value", [0.3, "inf", 1e300, 10**20, None, "True"])
def test_one_odd_cell_spoils_a_column_of_numbers(
    data: Path, answers: pd.DataFrame, tmp_path: Path, value: object
) -> None:
    numbers = answers.assign(Transported=answers["Transported"].astype(int))
    with pytest.raises(mlecore.InvalidSubmission, match="Transported"):
        grade(put(numbers, value), data, tmp_path)


@pytest.mark.parametrize(
    "change",
    [
        lambda table: table.iloc[1:],
        lambda table: pd.concat([table, table.iloc[:1]]),
        lambda table: table.assign(PassengerId=["0000_00", *table["PassengerId"].iloc[1:]]),
        lambda table: table.assign(PassengerId=[table["PassengerId"].iloc[1], *table["PassengerId"].iloc[1:]]),
        lambda table: table.assign(PassengerId=table["PassengerId"].str.replace("_", "")),  # numbers
        lambda table: table.drop(columns="PassengerId"),
        lambda table: table.drop(columns="Transported"),
    ],
)
def test_rows_are_those_of_the_sample(data: Path, answers: pd.DataFrame, tmp_path: Path, change: object) -> None:
    with pytest.raises(mlecore.InvalidSubmission):
        grade(change(answers), data, tmp_path)


def test_the_stand_in_looks_like_the_real_table(data: Path) -> None:
    table = pd.read_csv(data / "raw" / "train.csv")
    assert table.shape[1] == 14
    assert table["PassengerId"].is_monotonic_increasing and table["PassengerId"].is_unique
    assert set(table.columns[table.notna().all()]) == {"PassengerId", "Transported"}
    assert not set(table["PassengerId"]) & set(pd.read_csv(data / "raw" / "test.csv")["PassengerId"])


def test_the_stand_in_repeats_itself(data: Path, tmp_path: Path) -> None:
    SPACESHIP.make_raw(tmp_path, size=0.2)
    for file in sorted(tmp_path.iterdir()):
        assert file.read_bytes() == (data / "raw" / file.name).read_bytes()


def test_a_refusal_names_the_cell_that_is_odd(data: Path, answers: pd.DataFrame, tmp_path: Path) -> None:
    for value in ("yes", " True", 1):
        with pytest.raises(
            mlecore.InvalidSubmission, match=rf"found PassengerId '{answers['PassengerId'][2]}': '{value}'$"
        ):
            grade(put(answers, value), data, tmp_path)


@pytest.mark.slow
def test_it_conforms() -> None:
    check_competition("spaceship-titanic")
