"""Plant Seedlings: labels from folders, what is no image, and labels missing or of another type."""

from __future__ import annotations

import pandas as pd
import pytest
from mlecore_testing import Trial


def test_folders_are_the_labels(trial: Trial, answers: pd.DataFrame) -> None:
    raw = {path.name: path for path in (trial.raw / "train").glob("*/*.png")}
    assert len(answers) == 12  # 11.2 of 80, rounded up
    for name, species in zip(answers["file"], answers["species"], strict=True):
        assert raw[name].parent.name == species
        assert (trial.public / "test" / name).read_bytes() == raw[name].read_bytes()
        assert not raw[name].samefile(trial.public / "test" / name)
    train = {path.name: path.parent.name for path in (trial.public / "train").rglob("*") if path.is_file()}
    assert train == {name: path.parent.name for name, path in raw.items() if name not in set(answers["file"])}


def test_scores(trial: Trial, answers: pd.DataFrame) -> None:
    assert trial.grade(answers[::-1]) == 1
    assert trial.grade(answers.assign(species=answers["species"].where(answers.index > 2))) == 9 / 12
    assert trial.grade(answers.assign(species=answers["species"] + " ")) == 0
    assert trial.grade(answers.assign(species="Triffid")) == 0


@pytest.mark.parametrize("value", [None, 3, True])
def test_a_column_without_text_is_refused(trial: Trial, answers: pd.DataFrame, value: object) -> None:
    trial.refuses(answers.assign(species=value), "species")
