"""Contrails: odd masks."""

from __future__ import annotations

import pandas as pd
import pytest

from mlecore_testing import Trial

pytestmark = pytest.mark.trial(size=0.25)


@pytest.mark.parametrize(
    ("cell", "reason"),
    [
        ("", "text in every row"),
        ("1 3 3 2", "overlap"),
        ("9 1 2 1", "ascend"),
        ("0 2", "1 or more"),
        ("1 3 10 5 20", "odd"),
        ("- -", "whole"),
        ("1.5 2", "whole"),
    ],
)
def test_refused(trial: Trial, answers: pd.DataFrame, cell: str, reason: str) -> None:
    answers.loc[1, "encoded_pixels"] = cell
    trial.refuses(answers, reason)
    trial.refuses(answers.assign(encoded_pixels=5), "read as numbers")
