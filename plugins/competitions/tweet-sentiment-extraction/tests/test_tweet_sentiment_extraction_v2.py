"""Tweet Sentiment Extraction, edition v2: two empty texts score 1."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from mlecore_testing import Trial

pytestmark = pytest.mark.trial(edition="v2")
WORDS = np.array(["", "good", "Good day", "day", "bad bad day", "so"])


def test_two_empty_texts_are_the_same(trial: Trial, trial_v1: Trial) -> None:
    truth = pd.DataFrame({"textID": ["a", "b"], "selected_text": ["", "good"]})
    trial_v1.refuses(truth, "empty", truth)
    assert trial.grade(truth, truth) == 1


def test_it_agrees_with_the_definition(trial: Trial) -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        asked, given = rng.choice(WORDS, 30), rng.choice(WORDS, 30)
        total = 0.0
        for a, b in ((set(x.lower().split()), set(y.lower().split())) for x, y in zip(asked, given, strict=True)):
            total += len(a & b) / len(a | b) if a | b else 1.0
        ids = [f"t{number}" for number in range(30)]
        truth = pd.DataFrame({"textID": ids, "selected_text": asked})
        assert abs(trial.grade(truth.assign(selected_text=given), truth) - total / 30) < 1e-9
