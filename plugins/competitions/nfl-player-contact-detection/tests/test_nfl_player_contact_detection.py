"""NFL contacts: types of whole tables, and labels of any kind."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from mle_comp_nfl_player_contact_detection import matthews_correlation
from mlecore_testing import Trial

pytestmark = pytest.mark.trial(size=0.3)


def test_tables_are_typed_as_a_whole_and_read_plain(trial: Trial) -> None:
    for part in ("train", "test"):
        left = pd.read_csv(trial.public / f"{part}_baseline_helmets.csv", dtype=str)["left"].dropna()
        assert left.str.endswith(".0").all()  # one play has a gap
    speed = pd.read_csv(trial.public / "train_player_tracking.csv", float_precision="round_trip")["speed"]
    raw = pd.read_csv(trial.raw / "train_player_tracking.csv", float_precision="round_trip")["speed"]
    assert not speed.isin(raw).all() and np.isin(speed.round(9), raw.round(9)).all()


def test_scores(trial: Trial, answers: pd.DataFrame) -> None:
    assert trial.grade(answers.sample(frac=1, random_state=1)) == 1
    assert trial.grade(answers.assign(contact=1 - answers["contact"])) == -1
    assert trial.grade(answers.assign(contact=1)) == 0
    assert trial.grade(answers.assign(contact=answers["contact"] == 1)) == 1
    assert trial.grade(answers.assign(contact=answers["contact"].astype(float))) == 1
    assert 0 < trial.grade(answers.assign(contact=answers["contact"].where(answers.index > 9, 2))) < 1


@pytest.mark.filterwarnings("ignore:A single label was found")
def test_correlation_equals_scikit_learns() -> None:
    from sklearn.metrics import matthews_corrcoef

    rng = np.random.RandomState(0)
    for classes in (1, 2, 3, 5):
        for rows in (1, 7, 400):
            truth, predictions = rng.randint(0, 2, rows), rng.randint(0, classes, rows)
            expected = matthews_corrcoef(truth, predictions)
            assert matthews_correlation(truth, predictions) == pytest.approx(expected, abs=1e-12)
