"""APTOS 2019: photographs that follow their split, and a kappa on the grades that occur."""

from __future__ import annotations

import math
from pathlib import Path

import pandas as pd
import pytest

from mlecore.errors import DataError
from mlecore.testing import Trial

pytestmark = pytest.mark.trial(size=0.1)


def raw(folder: Path, images: int) -> Path:
    """Ten rows, with a column that is not handed out, and so many images."""
    (folder / "train_images").mkdir(parents=True)
    (folder / "train.csv").write_text("more,diagnosis,id_code\n" + "".join(f"x,{i % 5},a{i}\n" for i in range(10)))
    for i in range(images):
        (folder / "train_images" / f"a{i}.png").write_bytes(b"")
    return folder


def test_only_two_columns_are_handed_out(trial: Trial, tmp_path: Path) -> None:
    trial.competition.prepare(raw(tmp_path / "raw", 10), tmp_path / "public", tmp_path / "private")
    assert (tmp_path / "private" / "test.csv").read_text() == "id_code,diagnosis\na2,2\n"
    assert (tmp_path / "public" / "train.csv").read_text().startswith("id_code,diagnosis\na")
    assert [path.name for path in (tmp_path / "public" / "test_images").iterdir()] == ["a2.png"]


def test_a_missing_photograph_is_named(trial: Trial, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"a\d\.png"):
        trial.competition.prepare(raw(tmp_path / "raw", 5), tmp_path / "public", tmp_path / "private")


def test_kappa_of_the_grades_that_occur(trial: Trial, tmp_path: Path) -> None:
    def kappa(truth: list[int], guess: list[object]) -> float:
        for name, grades in (("test.csv", truth), ("guess.csv", guess)):
            ids = [f"x{i}" for i in range(len(grades))]
            pd.DataFrame({"id_code": ids, "diagnosis": grades}).to_csv(tmp_path / name, index=False)
        return trial.competition.grade(tmp_path / "guess.csv", tmp_path)

    assert kappa([0, 0, 4, 4], [0, 4, 4, 4]) == kappa([0, 0, 1, 1], [0, 1, 1, 1]) == 0.5  # places, not grades
    assert kappa([0, 1, 2, 3], [2, 2, 2, 2]) == 0
    assert math.isnan(kappa([2, 2], [2, 2]))
    assert kappa([0, 1, 0, 1], ["False", "True", "False", "True"]) == 1
    assert kappa([0, 1, 2, 4], [-1, 1, 2, 100]) < 1
