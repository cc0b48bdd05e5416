"""New York taxi: a fixed number of test rides, keys that only sort."""

from __future__ import annotations

import math
from pathlib import Path

import pandas as pd
import pytest
from mlecore_testing import Trial


def test_the_test_part_has_a_fixed_size(trial: Trial, answers: pd.DataFrame) -> None:
    assert len(answers) == 9914
    rides = pd.concat([answers, pd.read_csv(trial.public / "labels.csv")])
    assert sorted(rides["key"]) == sorted(pd.read_csv(trial.raw / "train.csv")["key"])
    assert (trial.public / "GCP-Coupons-Instructions.rtf").is_file()


def test_rides_that_wait_in_files_make_the_same_table(trial: Trial, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mlecore.prepare.shuffles._AT_ONCE", 300_000)
    monkeypatch.setattr("mlecore.tables.reading._AT_ONCE", 200_000)
    public, _ = trial.prepare(trial.raw)
    assert (public / "labels.csv").read_bytes() == (trial.public / "labels.csv").read_bytes()


def test_a_key_in_both_parts_is_refused(trial: Trial, answers: pd.DataFrame, tmp_path: Path) -> None:
    rides, known = pd.read_csv(trial.raw / "train.csv"), answers["key"][0]
    rides.loc[rides.index[~rides["key"].isin(answers["key"])][0], "key"] = known
    rides.to_csv(tmp_path / "train.csv", index=False)
    trial.refuses_raw(tmp_path, f"keys of train and test: 1 in both parts of the split, such as '{known}'")


@pytest.mark.parametrize(("columns", "words"), [(8, "cannot split"), (7, "expected 8")])
def test_odd_tables_are_refused(trial: Trial, tmp_path: Path, columns: int, words: str) -> None:
    lines = [["key", "fare_amount", *"abcdef"][:columns], *([f"k{i}", *"1" * (columns - 1)] for i in range(100))]
    (tmp_path / "train.csv").write_text("\n".join(map(",".join, lines)) + "\n")
    trial.refuses_raw(tmp_path, words)


def test_keys_only_sort(trial: Trial, answers: pd.DataFrame) -> None:
    assert trial.grade(answers.sort_values("key").assign(key=range(len(answers)))) == 0


def test_fares_of_any_size_are_scored(trial: Trial, answers: pd.DataFrame) -> None:
    assert trial.grade(answers.assign(fare_amount=1e200)) == math.inf
    assert math.isfinite(trial.grade(answers.assign(fare_amount=True)))
