"""SETI Breakthrough Listen, edition v2: the earlier version of the data is gone."""

from __future__ import annotations

import pytest

from mlecore_testing import Trial

pytestmark = pytest.mark.trial(edition="v2")


def test_the_leaky_data_are_gone(trial: Trial, trial_v1: Trial) -> None:
    assert (trial_v1.public / "old_leaky_data").is_dir()
    names = {path.name for path in trial_v1.public.iterdir()} - {"old_leaky_data"}
    assert {path.name for path in trial.public.iterdir()} == names
