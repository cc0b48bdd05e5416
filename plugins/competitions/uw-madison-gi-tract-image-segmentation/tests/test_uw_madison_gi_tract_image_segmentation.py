"""UW-Madison: rows that meet by place, and distances of volumes."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest
from mle_comp_uw_madison_gi_tract_image_segmentation.volumes import Volumes, mean_distance
from numpy.typing import NDArray

from mlecore_testing import Trial

pytestmark = pytest.mark.trial(size=0.5)


def test_rows_meet_by_their_place(trial: Trial, answers: pd.DataFrame) -> None:
    sent = answers[["id", "class", "predicted"]]
    assert trial.grade(sent) == 1
    assert trial.grade(pd.concat([sent, sent.head(5).assign(predicted="9 9 9 9 9", id=None)])) == 1  # rows too many
    assert trial.grade(sent.assign(**{"class": "x"})) == 1
    assert trial.grade(sent.head(9)) < 1 or len(sent) == 9
    assert math.isnan(trial.grade(sent.head(0)))
    trial.refuses(sent.assign(id="one"), "sizes")
    assert any("rows" in warning for warning in trial.check(sent.head(9)))


@pytest.mark.parametrize(
    ("change", "reason"),
    [({"predicted": "7"}, "text"), ({"predicted": "1 3 3 2"}, "overlap"), ({"id": None}, "text in every row")],
)
def test_refused(trial: Trial, answers: pd.DataFrame, change: dict[str, str], reason: str) -> None:
    trial.refuses(answers[["id", "class", "predicted"]].assign(**change), reason)


def _volumes(arrays: Sequence[NDArray[np.bool_]]) -> Volumes:
    """Each voxel is a run."""
    found = [np.argwhere(array) for array in arrays]
    pixels = [places[:, 1] * array.shape[2] + places[:, 2] for places, array in zip(found, arrays, strict=True)]
    places = [np.insert(places[:, :1], 0, number, axis=1) for number, places in enumerate(found)]
    begin = np.concatenate(pixels)
    shapes = np.array([array.shape for array in arrays])
    return Volumes(shapes, np.concatenate(places), np.column_stack([begin, begin + 1]))


def test_distances_equal_scipys() -> None:
    from scipy.spatial.distance import directed_hausdorff

    rng = np.random.RandomState(0)
    sides, expected = [], []
    for shape, other in [((3, 8, 7), (3, 8, 7)), ((2, 9, 5), (4, 6, 7)), ((4, 6, 7), (2, 9, 5)), ((9, 40, 50),) * 2]:
        for share in (0.004, 0.02, 0.5, 0.9):
            truth, predictions = rng.rand(*shape) < share, rng.rand(*other) < share
            truth[0, 0, 0] = predictions[1, 2, 3] = True
            sides.append((truth, predictions))
            a, b = np.argwhere(truth) / shape, np.argwhere(predictions) / shape
            far = max(directed_hausdorff(a, b)[0], directed_hausdorff(b, a)[0]) / 3**0.5
            expected.append(1.0 if predictions.sum() > 10 * truth.sum() else far)
            assert mean_distance(*(_volumes([side]) for side in sides[-1])) == pytest.approx(expected[-1], abs=1e-12)
    truths, guesses = map(_volumes, zip(*sides, strict=True))
    assert mean_distance(truths, guesses) == pytest.approx(np.mean(expected), abs=1e-12)


def test_distances_of_empty_and_equal_volumes() -> None:
    empty, one = np.zeros((1, 2, 2), dtype=bool), np.eye(2, dtype=bool)[None]
    found = [mean_distance(_volumes([a]), _volumes([b])) for a in (empty, one) for b in (empty, one)]
    assert math.isnan(found[0]) and found[1:] == [1, 1, 0]
    assert mean_distance(_volumes([empty, one, one]), _volumes([empty, empty, one, one])) == 0.5
