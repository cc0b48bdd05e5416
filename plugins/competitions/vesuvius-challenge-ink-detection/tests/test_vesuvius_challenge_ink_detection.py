"""Vesuvius: what of the third fragment is public, rows of pixels, and F0.5."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from sklearn.metrics import fbeta_score

from mlecore import InvalidSubmission
from mlecore.errors import DataError
from mlecore.testing import Trial

pytestmark = pytest.mark.trial(size=0.1)


@pytest.fixture
def ink(trial: Trial) -> np.ndarray:
    return np.asarray(Image.open(trial.raw / "train" / "3" / "inklabels.png")).ravel() > 0


def submission(cell: str) -> pd.DataFrame:
    return pd.DataFrame({"Predicted": [cell], "Id": "a"})


def test_files(trial: Trial, answers: pd.DataFrame, ink: np.ndarray) -> None:
    assert {path.name for path in (trial.public / "test" / "a").iterdir()} == {"mask.png", "surface_volume"}
    assert len(list((trial.public / "train" / "2").rglob("*"))) == len(list((trial.raw / "train" / "2").rglob("*")))
    width, height = Image.open(trial.raw / "train" / "3" / "ir.png").size
    assert width != height and answers.columns.tolist() == ["Id", "Predicted", "width", "height"]
    assert answers[["Id", "width", "height"]].to_numpy().tolist() == [["a", width, height]]


@pytest.mark.parametrize(
    ("change", "reason"), [("ir.png", "missing"), ("inklabels.png", "each of"), ("note.txt", "none of")]
)
def test_other_files_are_refused(trial: Trial, tmp_path: Path, change: str, reason: str) -> None:
    shutil.copytree(trial.raw, tmp_path / "raw")
    path = tmp_path / "raw" / "train" / "3" / change
    path.unlink() if path.exists() else path.write_text("")
    with pytest.raises(DataError, match=reason):
        trial.competition.prepare(tmp_path / "raw", tmp_path / "public", tmp_path / "private")


def test_scores(trial: Trial, answers: pd.DataFrame, ink: np.ndarray) -> None:
    mask = answers["Predicted"][0]
    assert trial.grade(submission(mask)) == 1
    assert trial.grade(submission(f"{mask} 999999 4")) == 1  # beyond the picture
    assert trial.grade(submission(" ")) == 0
    for cell, pixels in (("1 400", np.arange(400)), ("100 9 300", [*np.arange(99, 108), *np.arange(299, 308)])):
        guess = np.zeros(len(ink), dtype=bool)
        guess[pixels] = True
        assert trial.grade(submission(cell)) == pytest.approx(fbeta_score(ink, guess, beta=0.5), abs=1e-12)


@pytest.mark.parametrize(
    ("cell", "reason"),
    [("", "text"), ("5", "read as numbers"), ("1 3 3 2", "overlap"), ("0 2", "1 or more"), ("1 2 5 2 9", "odd")],
)
def test_refused(trial: Trial, cell: str, reason: str) -> None:
    with pytest.raises(InvalidSubmission, match=reason):
        trial.grade(submission(cell))
    for other in (
        submission("1 1").assign(Id="b"),
        submission("1 1").assign(more=1),
        pd.concat([submission("1 1")] * 2),
    ):
        with pytest.raises(InvalidSubmission):
            trial.grade(other)
