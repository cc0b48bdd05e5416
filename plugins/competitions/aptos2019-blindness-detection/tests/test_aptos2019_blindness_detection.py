"""APTOS 2019: photographs that follow their split, and a kappa on the grades that occur."""

from __future__ import annotations

import math
from pathlib import Path

import pandas as pd
from mlecore_testing import Trial


def raw(folder: Path, images: int) -> Path:
    """Ten rows, with a column that is not handed out, and so many images."""
    (folder / "train_images").mkdir(parents=True)
    (folder / "train.csv").write_text("more,diagnosis,id_code\n" + "".join(f"x,{i % 5},a{i}\n" for i in range(10)))
    for i in range(images):
        (folder / "train_images" / f"a{i}.png").write_bytes(b"")
    return folder


def test_only_two_columns_are_public(trial: Trial, tmp_path: Path) -> None:
    public, private = trial.prepare(raw(tmp_path / "raw", 10))
    assert (private / "test.csv").read_text() == "id_code,diagnosis\na2,2\n"
    assert (public / "train.csv").read_text().startswith("id_code,diagnosis\na")
    assert [path.name for path in (public / "test_images").iterdir()] == ["a2.png"]


def test_a_missing_photograph_is_named(trial: Trial, tmp_path: Path) -> None:
    trial.refuses_raw(raw(tmp_path / "raw", 5), r"a\d\.png")


def test_kappa_of_the_grades_that_occur(trial: Trial) -> None:
    def kappa(*grades: list[object]) -> float:
        truth, predictions = (pd.DataFrame({"id_code": list("abcd")[: len(row)], "diagnosis": row}) for row in grades)
        return trial.grade(predictions, truth)

    assert kappa([0, 0, 4, 4], [0, 4, 4, 4]) == kappa([0, 0, 1, 1], [0, 1, 1, 1]) == 0.5  # places, not grades
    assert kappa([0, 1, 2, 3], [2, 2, 2, 2]) == 0
    assert math.isnan(kappa([2, 2], [2, 2]))
    assert kappa([0, 1, 0, 1], ["False", "True", "False", "True"]) == 1
    assert kappa([0, 1, 2, 4], [-1, 1, 2, 100]) < 1
