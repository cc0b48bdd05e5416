"""TGS Salt: the score of a mask."""

from __future__ import annotations

import numpy as np
import pytest
from mle_comp_tgs_salt_identification_challenge import thresholds_hit

pytestmark = pytest.mark.trial(size=0.2)


@pytest.mark.parametrize(
    ("truth", "predictions", "hits"),
    [
        ([], [], 10),
        ([], [[0, 1]], 0),
        ([[0, 10201]], [], 10),  # as published: nothing marked counts as everything
        ([[0, 5101]], [], 1),
        ([[0, 4]], [[0, 3]], 5),  # 0.75 itself is no hit at 0.75
        ([[0, 2]], [[0, 1]], 0),
        ([[0, 20], [50, 70]], [[0, 20], [50, 68]], 9),
        ([[0, 20]], [[0, 19]], 9),
    ],
)
def test_thresholds(truth: list[list[int]], predictions: list[list[int]], hits: int) -> None:
    runs = (np.array(mask, dtype=np.int64).reshape(-1, 2) for mask in (truth, predictions))
    assert thresholds_hit(*([run] for run in runs)).tolist() == [hits]
