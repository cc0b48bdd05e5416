"""Random Acts of Pizza: JSON in and out byte for byte, and what its grader takes."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pandas as pd
import pytest

import mlecore
from mlecore.errors import DataError
from mlecore.testing import Trial, check_competition

PIZZA = mlecore.competition("random-acts-of-pizza")
TARGET = "requester_received_pizza"


@pytest.fixture(scope="module")
def trial(tmp_path_factory: pytest.TempPathFactory) -> Trial:
    return Trial("random-acts-of-pizza", tmp_path_factory.mktemp("pizza"), size=0.1)


@pytest.fixture
def answers(trial: Trial) -> pd.DataFrame:
    return pd.read_csv(trial.private / "test.csv")


@pytest.mark.slow
def test_conformance() -> None:
    check_competition("random-acts-of-pizza")


def test_files(trial: Trial, answers: pd.DataFrame) -> None:
    from sklearn.model_selection import train_test_split

    requests, others = (json.loads((trial.raw / f"{name}.json").read_text()) for name in ("train", "test"))
    assert len(requests[0]) == 32 and len(others[0]) == 17
    ratio = len(others) / (len(requests) + len(others))
    train, test = train_test_split(requests, test_size=ratio, random_state=0)
    reduced = [{key: item[key] for key in others[0]} for item in test]
    assert (trial.public / "train.json").read_text() == json.dumps(train, indent=4)
    assert (trial.public / "test.json").read_text() == json.dumps(reduced, indent=4)
    for name in ("train", "test"):
        with zipfile.ZipFile(trial.public / f"{name}.zip") as archive:
            assert archive.namelist() == [f"{name}.json"]
            assert archive.read(f"{name}.json") == (trial.public / f"{name}.json").read_bytes()
    assert answers[TARGET].tolist() == [int(item[TARGET]) for item in test]
    assert set(answers[TARGET]) == {0, 1}


def test_numbers_keep_their_kind(tmp_path: Path) -> None:
    raw = tmp_path / "raw"
    raw.mkdir()
    item = {"request_id": "t3_é", "a": 1, "b": 1.0, "c": 0.1000000000000000055, TARGET: True}
    (raw / "train.json").write_text(json.dumps([{**item, "request_id": f"t3_é{i}"} for i in range(4)]))
    (raw / "test.json").write_text('[{"b": 2.0, "request_id": "x", "a": 3}]')
    PIZZA.prepare(raw, tmp_path / "public", tmp_path / "private")
    text = (tmp_path / "public" / "test.json").read_text()
    assert text.startswith('[\n    {\n        "b": 1.0,\n        "request_id": "t3_\\u00e9')
    assert '"a": 1\n' in text and not text.endswith("\n")


def test_requests_with_other_keys_are_said(tmp_path: Path) -> None:
    (tmp_path / "train.json").write_text('[{"request_id": "a"}, {"request": "b"}]')
    (tmp_path / "test.json").write_text('[{"request_id": "c"}]')
    with pytest.raises(DataError, match="differ in their keys"):
        PIZZA.prepare(tmp_path, tmp_path / "public", tmp_path / "private")


def test_a_field_that_only_the_test_set_has_is_said(tmp_path: Path) -> None:
    (tmp_path / "train.json").write_text(json.dumps([{"request_id": f"t3_{i}", TARGET: True} for i in range(4)]))
    (tmp_path / "test.json").write_text('[{"request_id": "c", "mood": 1}]')
    with pytest.raises(DataError, match="lack mood"):
        PIZZA.prepare(tmp_path, tmp_path / "public", tmp_path / "private")


def test_scores(trial: Trial, answers: pd.DataFrame) -> None:
    assert trial.grade(answers) == 1
    assert trial.grade(answers.assign(**{TARGET: 0})) == 0.5
    shuffled = answers.assign(**{TARGET: answers[TARGET] == 1, "note": "x"}).sample(frac=1, random_state=0)
    assert trial.grade(shuffled) == 1


@pytest.mark.parametrize("value", [None, 1.2, -0.1, "inf", "yes", "True", "0_1"])
def test_predictions_are_numbers_from_0_to_1(trial: Trial, answers: pd.DataFrame, value: object) -> None:
    bad = answers.assign(**{TARGET: 0.5}).astype({TARGET: object})
    bad.loc[0, TARGET] = value
    with pytest.raises(mlecore.InvalidSubmission, match="must hold numbers from 0 to 1"):
        trial.grade(bad)


def test_ids_are_those_of_the_sample(trial: Trial, answers: pd.DataFrame) -> None:
    repeated = answers.assign(request_id=[answers["request_id"][1], *answers["request_id"][1:]])
    empty = answers.assign(request_id=[None, *answers["request_id"][1:]])
    for bad in (repeated, empty, answers.iloc[1:], answers.iloc[:0], answers.drop(columns=TARGET)):
        with pytest.raises(mlecore.InvalidSubmission):
            trial.grade(bad)
