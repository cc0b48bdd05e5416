"""Keyword extraction: answers without tags."""

from __future__ import annotations

import pandas as pd
import pytest

from mlecore_testing import Trial

pytestmark = pytest.mark.trial(size=0.4)


def test_answers_without_tags(trial: Trial, answers: pd.DataFrame) -> None:
    trial.refuses(answers, "no tags at all", answers.assign(Tags=None))
