"""Random Acts of Pizza: JSON in and out byte for byte."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pandas as pd
import pytest
from mlecore_testing import Trial

TARGET = "requester_received_pizza"


def raw(folder: Path, train: list[dict[str, object]], test: str) -> Path:
    folder.mkdir()
    (folder / "train.json").write_text(json.dumps(train))
    (folder / "test.json").write_text(test)
    return folder


def test_the_test_part_has_the_fields_of_kaggles_own_in_its_order(trial: Trial, answers: pd.DataFrame) -> None:
    from sklearn.model_selection import train_test_split

    requests, others = (json.loads((trial.raw / f"{name}.json").read_text()) for name in ("train", "test"))
    ratio = len(others) / (len(requests) + len(others))
    train, test = train_test_split(requests, test_size=ratio, random_state=0)
    shown = [{key: item[key] for key in others[0]} for item in test]
    for name, items in (("train", train), ("test", shown)):
        assert (trial.public / f"{name}.json").read_text() == json.dumps(items, indent=4)
        with zipfile.ZipFile(trial.public / f"{name}.zip") as archive:
            assert archive.read(f"{name}.json") == (trial.public / f"{name}.json").read_bytes()
    assert answers[TARGET].tolist() == [int(item[TARGET]) for item in test]


def test_numbers_keep_their_kind(trial: Trial, tmp_path: Path) -> None:
    item: dict[str, object] = {"a": 1, "b": 1.0, "c": 0.1000000000000000055, TARGET: True}
    made = raw(
        tmp_path / "raw",
        [{**item, "request_id": f"t3_é{i}"} for i in range(4)],
        '[{"b": 2.0, "request_id": "x", "a": 3}]',
    )
    public, _ = trial.prepare(made)
    text = (public / "test.json").read_text()
    assert text.startswith('[\n    {\n        "b": 1.0,\n        "request_id": "t3_\\u00e9')
    assert '"a": 1\n' in text and not text.endswith("\n")


@pytest.mark.parametrize(
    ("train", "test", "said"),
    [
        ([{"request_id": "a"}, {"request": "b"}], '[{"request_id": "c"}]', "differ in their keys"),
        ([{"request_id": i, TARGET: True} for i in range(4)], '[{"request_id": "c", "mood": 1}]', "lack mood"),
    ],
)
def test_odd_requests_are_refused(
    trial: Trial, tmp_path: Path, train: list[dict[str, object]], test: str, said: str
) -> None:
    trial.refuses_raw(raw(tmp_path / "raw", train, test), said)
