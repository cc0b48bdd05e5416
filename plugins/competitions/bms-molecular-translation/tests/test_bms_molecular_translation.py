"""Molecules: distances of whatever text is there."""

from __future__ import annotations

import pandas as pd
import pytest

from mlecore_testing import Trial
from mlecore_toolkit import edit_distance

pytestmark = pytest.mark.trial(size=0.3)


def test_distances(trial: Trial, answers: pd.DataFrame) -> None:
    assert trial.grade(answers.sample(frac=1, random_state=1)) == 0
    texts = answers["InChI"].tolist()
    for cell, text in (("", "nan"), ("NA", "nan"), ("1.50", "1.5"), ("True", "True"), ("日本", "日本")):
        expected = sum(edit_distance(right, text) for right in texts) / len(texts)
        assert trial.grade(answers.assign(InChI=cell)) == pytest.approx(expected, abs=1e-12)
    other = [f"{text[1:8]}x{text[9:]}-" for text in texts]  # one gone, one replaced, one more
    assert trial.grade(answers.assign(InChI=other)) == 3
