"""Random Acts of Pizza, edition v2: the test part does not name givers."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from mlecore_testing import Trial
from mlecore_toolkit import roc_auc

pytestmark = pytest.mark.trial(edition="v2")


def known_givers(trial: Trial, answers: pd.DataFrame) -> float:
    """The score of a submission that only looks at who gave."""
    requests = json.loads((trial.public / "test.json").read_text())
    known = [float(item.get("giver_username_if_known", "N/A") != "N/A") for item in requests]
    return roc_auc(answers["requester_received_pizza"], known)


def test_the_giver_is_known_in_v1_only(trial: Trial, trial_v1: Trial, answers: pd.DataFrame) -> None:
    assert (trial.private / "test.csv").read_bytes() == (trial_v1.private / "test.csv").read_bytes()
    assert known_givers(trial_v1, answers) > 0.55
    assert known_givers(trial, answers) == 0.5


def test_nothing_is_public_twice(trial: Trial) -> None:
    names = {"train.json", "test.json", "sampleSubmission.csv", "description.md"}
    assert {path.name for path in trial.public.iterdir()} == names
