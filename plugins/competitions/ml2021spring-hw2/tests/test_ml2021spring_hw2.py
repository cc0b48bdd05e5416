"""ML2021Spring-hw2: arrays of any shape, and none that are pickled."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from mle_comp_ml2021spring_hw2 import FOLDER

from mlecore_testing import Trial


@pytest.mark.parametrize("shape", [(40, 4), (40, 3, 2)])
def test_any_shape_and_order_in_memory(trial: Trial, tmp_path: Path, shape: tuple[int, ...]) -> None:
    folder = tmp_path / FOLDER
    folder.mkdir(parents=True)
    frames = np.asfortranarray(np.arange(math.prod(shape), dtype=np.float64).reshape(shape))
    np.save(folder / "train_11.npy", frames)
    np.save(folder / "train_label_11.npy", np.arange(40) % 5)
    np.save(folder / "test_11.npy", frames[:20])
    public, _ = trial.prepare(tmp_path)
    made = np.load(public / FOLDER / "train_11.npy")
    assert made.shape == (26, *shape[1:])
    assert {tuple(row.ravel()) for row in made} <= {tuple(row.ravel()) for row in frames}


def test_pickles_are_refused(trial: Trial, tmp_path: Path) -> None:
    (tmp_path / FOLDER).mkdir(parents=True)
    np.save(tmp_path / FOLDER / "train_11.npy", np.array([{}]), allow_pickle=True)
    trial.refuses_raw(tmp_path, "cannot be read as an array")
