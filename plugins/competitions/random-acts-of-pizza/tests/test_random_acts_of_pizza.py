"""Random Acts of Pizza: odd requests."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mlecore_testing import Trial

TARGET = "requester_received_pizza"


def raw(folder: Path, train: list[dict[str, object]], test: str) -> Path:
    folder.mkdir()
    (folder / "train.json").write_text(json.dumps(train))
    (folder / "test.json").write_text(test)
    return folder


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
