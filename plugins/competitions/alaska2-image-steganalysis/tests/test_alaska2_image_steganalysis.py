"""ALASKA2: the weighted area."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from mle_comp_alaska2_image_steganalysis.weighted import weighted_auc


@pytest.mark.parametrize("positives", [5, 7, 50])
def test_the_area_is_that_of_the_published_recipe(positives: int) -> None:
    rng = np.random.RandomState(positives)
    truth = rng.permutation(np.arange(positives * 3) < positives).astype(int)
    for score in (rng.normal(0, 1, len(truth)) + truth, rng.randint(0, 4, len(truth)) + truth / 1.0):
        assert weighted_auc(truth, score) == pytest.approx(_recipe(truth, score), abs=1e-12)


def _recipe(truth: np.ndarray, score: np.ndarray) -> float:
    from sklearn.metrics import roc_curve

    fpr, tpr, _ = roc_curve(truth, score, pos_label=1)
    points = list(zip(fpr.tolist(), tpr.tolist(), strict=True))
    if 0.4 not in tpr:
        after = next(i for i, (_, y) in enumerate(points) if y > 0.4)
        (x0, y0), (x1, y1) = points[after - 1], points[after]
        points.insert(after, (x0 + (0.4 - y0) / (y1 - y0) * (x1 - x0), 0.4))
    total = 0.0
    for low, high, weight in ((0, 0.4, 2), (0.4, 1, 1)):
        band = [(x, y - low) for x, y in points if low <= y <= high] + [(1, high - low)]
        total += weight * sum((b[0] - a[0]) * (a[1] + b[1]) / 2 for a, b in itertools.pairwise(band))
    return total / 1.4
