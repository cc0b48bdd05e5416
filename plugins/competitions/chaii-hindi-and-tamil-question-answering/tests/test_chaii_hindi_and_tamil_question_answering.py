"""Hindi and Tamil: answers with too few words."""

from __future__ import annotations

import pytest

from mlecore_testing import Trial

pytestmark = pytest.mark.trial(size=0.2)


def test_two_words_at_least(trial: Trial) -> None:
    head, truth = "id,PredictionString\n", "id,PredictionString\na,\nb,One\n"
    trial.refuses(head + "b,one\na,\n", "fewer than two words", truth)
    assert trial.grade(head + "b,one\na,two\n", truth) == 0.5
    trial.refuses(head + "b,one\na,two\n", "text", head + "a,1\nb,2\n")
