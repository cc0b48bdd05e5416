"""Dog Breed Identification: 120 breeds and no other, rows that add up to 1."""

from __future__ import annotations

import math
from pathlib import Path

import pandas as pd
import pytest

from mlecore_testing import Trial


def raw(folder: Path, breeds: list[str]) -> Path:
    (folder / "train").mkdir(parents=True)
    rows = "".join(f"note,{breed},a{number}\n" for number, breed in enumerate(breeds))
    (folder / "labels.csv").write_text(f"more,breed,id\n{rows}")
    for number in range(len(breeds)):
        (folder / "train" / f"a{number}.jpg").write_bytes(b"")
    return folder


@pytest.mark.parametrize("row", [0, 2, 9])  # in the train part or in the test part
def test_another_breed_is_refused(trial: Trial, tmp_path: Path, row: int) -> None:
    breeds = ["wolf" if number == row else "pug" for number in range(10)]
    trial.refuses_raw(raw(tmp_path / "raw", breeds), "wolf")


def test_rows_add_up_to_1_and_are_not_rescaled(trial: Trial) -> None:
    sample = pd.read_csv(trial.public / "sample_submission.csv").set_index("id")
    scaled = (sample * (1 + 1.05e-5)).reset_index()
    assert math.isclose(trial.grade(scaled), math.log(120) - math.log1p(1.05e-5))
    trial.refuses((sample * (1 + 1.2e-5)).reset_index(), "add up to 1")
