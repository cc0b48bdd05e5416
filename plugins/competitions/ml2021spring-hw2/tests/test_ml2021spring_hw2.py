"""ML2021Spring-hw2: arrays saved as numpy saves them, with the share of the old test set."""

from __future__ import annotations

import io
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from mle_comp_ml2021spring_hw2 import FOLDER
from sklearn.model_selection import train_test_split

from mlecore import InvalidSubmission
from mlecore.errors import DataError
from mlecore.testing import Trial

pytestmark = pytest.mark.trial(size=0.1)


def test_arrays_have_numpys_bytes(trial: Trial, answers: pd.DataFrame) -> None:
    frames, labels, others = (
        np.load(trial.raw / FOLDER / f"{name}.npy") for name in ("train_11", "train_label_11", "test_11")
    )
    share = len(others) / (len(frames) + len(others))
    train, test = train_test_split(range(len(frames)), test_size=share, random_state=0)
    assert len(test) == math.ceil(share * len(frames))
    for name, array in (
        ("train_11", frames[train]),
        ("train_label_11", labels[train]),
        ("test_11", frames[test]),
    ):
        stream = io.BytesIO()
        np.save(stream, array)
        assert (trial.public / FOLDER / f"{name}.npy").read_bytes() == stream.getvalue()
    assert labels.dtype.kind == "U"
    assert list(answers["ClassId"]) == labels[test].astype(int).tolist()


@pytest.mark.parametrize("shape", [(40, 4), (40, 3, 2)])
def test_any_shape_and_order_in_memory(trial: Trial, tmp_path: Path, shape: tuple[int, ...]) -> None:
    folder = tmp_path / FOLDER
    folder.mkdir(parents=True)
    frames = np.asfortranarray(np.arange(math.prod(shape), dtype=np.float64).reshape(shape))
    np.save(folder / "train_11.npy", frames)
    np.save(folder / "train_label_11.npy", np.arange(40) % 5)
    np.save(folder / "test_11.npy", frames[:20])
    trial.competition.prepare(tmp_path, tmp_path / "public", tmp_path / "private")
    made = np.load(tmp_path / "public" / FOLDER / "train_11.npy")
    assert made.shape == (26, *shape[1:])
    assert {tuple(row.ravel()) for row in made} <= {tuple(row.ravel()) for row in frames}


def test_pickles_are_refused(trial: Trial, tmp_path: Path) -> None:
    (tmp_path / FOLDER).mkdir(parents=True)
    np.save(tmp_path / FOLDER / "train_11.npy", np.array([{}]), allow_pickle=True)
    with pytest.raises(DataError, match="cannot be read as an array"):
        trial.competition.prepare(tmp_path, tmp_path / "public", tmp_path / "private")


def test_labels(trial: Trial, answers: pd.DataFrame) -> None:
    assert trial.grade(answers.astype(float)) == 1
    assert 0 < trial.grade(answers.assign(ClassId=0)) < 0.5
    with pytest.raises(InvalidSubmission, match="whole numbers"):
        trial.grade(answers.assign(ClassId=answers["ClassId"] + 0.5))
