"""Plant Seedlings, edition v2: every row names a species."""

from __future__ import annotations

import pandas as pd
import pytest
from mlecore_testing import Trial

pytestmark = pytest.mark.trial(edition="v2")


@pytest.mark.parametrize(("cell", "reason"), [(None, "text in every row"), ("maize", "one of 12 texts")])
def test_what_is_no_species_is_invalid(
    trial: Trial, trial_v1: Trial, answers: pd.DataFrame, cell: str | None, reason: str
) -> None:
    given = answers.assign(species=[cell, *answers["species"][1:]])
    assert trial_v1.grade(given) == 1 - 1 / len(answers)
    trial.refuses(given, reason)
