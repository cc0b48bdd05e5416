"""UW-Madison: days of the split, rows that meet by place, and distances of volumes."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from mle_comp_uw_madison_gi_tract_image_segmentation.volumes import distance
from mlecore_testing import Trial

pytestmark = pytest.mark.trial(size=0.5)


def test_train_has_the_first_four_days_of_a_case(trial: Trial, answers: pd.DataFrame) -> None:
    train = pd.read_csv(trial.public / "train.csv")
    ids = pd.concat([train["id"], answers["id"]]).str.split("_", expand=True)
    part = np.repeat(["train", "test"], [len(train), len(answers)])
    for _, rows in ids.assign(part=part, day=ids[1].str[3:].astype(int)).groupby(0):
        first = sorted(rows["day"].unique())[:4]
        assert set(rows["day"][rows["part"] == "train"]) in (set(first), set())


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


def test_distance_equals_scipys() -> None:
    from scipy.spatial.distance import directed_hausdorff

    rng = np.random.RandomState(0)
    for shape, other in [((3, 8, 7), (3, 8, 7)), ((2, 9, 5), (4, 6, 7)), ((4, 6, 7), (2, 9, 5)), ((9, 40, 50),) * 2]:
        for share in (0.004, 0.02, 0.5, 0.9):
            truth, predictions = rng.rand(*shape) < share, rng.rand(*other) < share
            truth[0, 0, 0] = predictions[1, 2, 3] = True
            a, b = np.argwhere(truth) / shape, np.argwhere(predictions) / shape
            expected = max(directed_hausdorff(a, b)[0], directed_hausdorff(b, a)[0]) / 3**0.5
            if predictions.sum() > 10 * truth.sum():
                expected = 1.0
            assert distance(truth, predictions) == pytest.approx(expected, abs=1e-12)
    empty, one = np.zeros((1, 2, 2), dtype=bool), np.eye(2, dtype=bool)[None]
    assert [distance(empty, empty), distance(one, one), distance(empty, one), distance(one, empty)] == [None, 0, 1, 1]
