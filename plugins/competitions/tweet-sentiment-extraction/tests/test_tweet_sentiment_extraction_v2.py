"""Tweet Sentiment Extraction, edition v2: two empty texts score 1."""

from __future__ import annotations

import pandas as pd
import pytest

from mlecore_testing import Trial

pytestmark = pytest.mark.trial(edition="v2")


def test_two_empty_texts_are_the_same(trial: Trial, trial_v1: Trial) -> None:
    truth = pd.DataFrame({"textID": ["a", "b"], "selected_text": ["", "good"]})
    trial_v1.refuses(truth, "empty", truth)
    assert trial.grade(truth, truth) == 1
