"""Vesuvius: files that must be there, rows of pixels, and F0.5."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from mlecore_testing import Trial


@pytest.fixture
def ink(trial: Trial) -> np.ndarray:
    return np.asarray(Image.open(trial.raw / "train" / "3" / "inklabels.png")).ravel() > 0


def submission(cell: str) -> pd.DataFrame:
    return pd.DataFrame({"Predicted": [cell], "Id": "a"})


@pytest.mark.parametrize(
    ("change", "reason"), [("ir.png", "missing"), ("inklabels.png", "each of"), ("note.txt", "none of")]
)
def test_other_files_are_refused(trial: Trial, change: str, reason: str) -> None:
    path = (raw := trial.raw_copy()) / "train" / "3" / change
    path.unlink() if path.exists() else path.write_text("")
    trial.refuses_raw(raw, reason)


def test_scores(trial: Trial, answers: pd.DataFrame, ink: np.ndarray) -> None:
    from sklearn.metrics import fbeta_score

    mask = answers["Predicted"][0]
    assert trial.grade(submission(mask)) == 1
    assert trial.grade(submission(f"{mask} 999999 4")) == 1  # beyond the picture
    assert trial.grade(submission(" ")) == 0
    for cell, pixels in (("1 400", np.arange(400)), ("100 9 300", [*np.arange(99, 108), *np.arange(299, 308)])):
        predictions = np.zeros(len(ink), dtype=bool)
        predictions[pixels] = True
        assert trial.grade(submission(cell)) == pytest.approx(fbeta_score(ink, predictions, beta=0.5), abs=1e-12)
