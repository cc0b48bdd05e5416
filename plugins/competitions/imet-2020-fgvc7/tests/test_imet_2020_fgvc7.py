"""iMet 2020: attributes that no test image has cost nothing."""

from __future__ import annotations

import pandas as pd
import pytest
from mlecore_testing import Trial

pytestmark = pytest.mark.trial(size=0.2)


def test_unknown_attributes_cost_nothing(trial: Trial, answers: pd.DataFrame) -> None:
    assert trial.grade(answers.assign(attribute_ids=answers["attribute_ids"] + " 3473 x 01 3473")) == 1
    assert (
        trial.grade(answers.assign(attribute_ids=[" ".join(c.split()[::-1] * 2) for c in answers["attribute_ids"]]))
        == 1
    )
    assert trial.grade(answers.assign(attribute_ids="")) == 0
    hits, size = (
        sum(fits)
        for fits in zip(*(("782" in c.split(), len(c.split()) + 1) for c in answers["attribute_ids"]), strict=True)
    )
    assert trial.grade(answers.assign(attribute_ids="782 y")) == pytest.approx(2 * hits / size)
