"""Spaceship Titanic: its split, its typing of truth values, and what its grader takes."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import mlecore
from mlecore.testing import Trial, check_competition


@pytest.fixture(scope="module")
def trial(tmp_path_factory: pytest.TempPathFactory) -> Trial:
    return Trial("spaceship-titanic", tmp_path_factory.mktemp("spaceship"), size=0.2)


@pytest.fixture
def answers(trial: Trial) -> pd.DataFrame:
    return pd.read_csv(trial.private / "test.csv")[["PassengerId", "Transported"]]


def put(table: pd.DataFrame, value: object) -> pd.DataFrame:
    """One cell replaced, the others as they are."""
    changed = table.astype({"Transported": object})
    changed.loc[2, "Transported"] = value
    return changed


def test_rows_are_split_as_published_and_cells_keep_their_text(trial: Trial) -> None:
    from sklearn.model_selection import train_test_split

    header, *lines = (trial.raw / "train.csv").read_text().splitlines(keepends=True)
    train, test = train_test_split(lines, test_size=0.1, random_state=0)
    assert (trial.public / "train.csv").read_text() == header + "".join(train)
    assert (trial.private / "test.csv").read_text() == header + "".join(test)


def test_the_public_test_table_has_no_target(trial: Trial) -> None:
    public, private = pd.read_csv(trial.public / "test.csv"), pd.read_csv(trial.private / "test.csv")
    pd.testing.assert_frame_equal(public, private.drop(columns="Transported"))
    sample = pd.read_csv(trial.public / "sample_submission.csv")
    assert sample["PassengerId"].equals(private["PassengerId"])
    assert not sample["Transported"].any()


def test_truth_is_spelled_in_many_ways(trial: Trial, answers: pd.DataFrame) -> None:
    text = answers["Transported"].map({True: "TRUE", False: "fAlSe"})
    for spelling in (answers["Transported"], text, answers["Transported"].astype(int), answers["Transported"] * 1.0):
        assert trial.grade(answers.assign(Transported=spelling)) == 1
    assert trial.grade(answers.assign(Transported=~answers["Transported"])) == 0


@pytest.mark.parametrize("value", [2, -1, 7.0])
def test_another_whole_number_is_wrong_but_valid(trial: Trial, answers: pd.DataFrame, value: float) -> None:
    numbers = answers.assign(Transported=answers["Transported"].astype(int))
    assert trial.grade(put(numbers, value)) == pytest.approx(1 - 1 / len(answers), abs=1e-12)


@pytest.mark.parametrize("value", ["yes", " True", "", "None", 1])
def test_one_odd_cell_spoils_a_column_of_truth_values(trial: Trial, answers: pd.DataFrame, value: object) -> None:
    with pytest.raises(mlecore.InvalidSubmission, match="Transported"):
        trial.grade(put(answers, value))


@pytest.mark.parametrize("value", [0.3, "inf", 1e300, 10**20, None, "True"])
def test_one_odd_cell_spoils_a_column_of_numbers(trial: Trial, answers: pd.DataFrame, value: object) -> None:
    numbers = answers.assign(Transported=answers["Transported"].astype(int))
    with pytest.raises(mlecore.InvalidSubmission, match="Transported"):
        trial.grade(put(numbers, value))


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
def test_rows_are_those_of_the_sample(trial: Trial, answers: pd.DataFrame, change: object) -> None:
    with pytest.raises(mlecore.InvalidSubmission):
        trial.grade(change(answers))


def test_synthetic_data_looks_like_the_real_table(trial: Trial) -> None:
    table = pd.read_csv(trial.raw / "train.csv")
    assert table.shape[1] == 14
    assert table["PassengerId"].is_monotonic_increasing and table["PassengerId"].is_unique
    assert set(table.columns[table.notna().all()]) == {"PassengerId", "Transported"}
    assert not set(table["PassengerId"]) & set(pd.read_csv(trial.raw / "test.csv")["PassengerId"])


def test_synthetic_data_repeats_itself(trial: Trial, tmp_path: Path) -> None:
    trial.competition.make_raw(tmp_path, size=0.2)
    for file in sorted(tmp_path.iterdir()):
        assert file.read_bytes() == (trial.raw / file.name).read_bytes()


def test_a_refusal_names_the_cell_that_is_odd(trial: Trial, answers: pd.DataFrame) -> None:
    for value in ("yes", " True", 1):
        with pytest.raises(
            mlecore.InvalidSubmission, match=rf"found PassengerId '{answers['PassengerId'][2]}': '{value}'$"
        ):
            trial.grade(put(answers, value))


@pytest.mark.slow
def test_it_conforms() -> None:
    check_competition("spaceship-titanic")
