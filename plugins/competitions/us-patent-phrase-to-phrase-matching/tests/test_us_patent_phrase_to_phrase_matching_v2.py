"""Patent phrases, edition v2: anchors are on one side of the split, and every valid submission has a score."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from mlecore_testing import Trial

pytestmark = pytest.mark.trial(edition="v2", size=0.5)


def test_null_is_a_phrase(trial: Trial) -> None:
    tables = [pd.read_csv(trial.public / f"{part}.csv", na_filter=False) for part in ("train", "test")]
    targets = pd.concat(tables)["target"]
    assert "null" in set(targets) and "" not in set(targets)


def test_what_has_no_score_is_invalid(trial: Trial, trial_v1: Trial, answers: pd.DataFrame) -> None:
    assert math.isnan(trial_v1.grade((trial_v1.public / "sample_submission.csv").read_text()))
    assert math.isfinite(trial.grade((trial.public / "sample_submission.csv").read_text()))
    trial.refuses(answers.assign(score=0.5), "holds 0.5 in every row")
    trial.refuses(answers.assign(score=answers["score"].where(answers.index != 3)), "score")


@pytest.mark.parametrize("value", [0.7, 1e5, 1e-300])
def test_nearly_constant_numbers_have_their_exact_score(trial: Trial, answers: pd.DataFrame, value: float) -> None:
    """Correlation does not depend on where the two values are."""
    high = answers["score"] > 0.5
    near = answers[["id"]].assign(score=np.where(high, np.nextafter(value, np.inf), value))
    expected = np.corrcoef(answers["score"], high)[0, 1]
    assert trial.competition.grade(near, trial.private) == pytest.approx(expected, abs=1e-12)


def test_huge_numbers_have_a_score(trial: Trial, answers: pd.DataFrame) -> None:
    assert math.isclose(trial.grade(answers.assign(score=1e308 * answers["score"])), 1)
