"""Right Whale Redux, edition v2: test clips do not tell their time."""

from __future__ import annotations

import re

import pandas as pd
import pytest

from mlecore_testing import Trial
from mlecore_toolkit import members, open_zip

pytestmark = pytest.mark.trial(edition="v2")


def test_names_do_not_tell_the_time(trial: Trial, trial_v1: Trial) -> None:
    for one, dated in ((trial_v1, True), (trial, False)):
        names = [name.removeprefix("test2/") for name in members(one.public / "test2.zip")]
        assert all(bool(re.match("2009", name)) == dated for name in names)
    assert (trial.public / "train2.zip").read_bytes() == (trial_v1.public / "train2.zip").read_bytes()


def test_clips_keep_their_labels(trial: Trial, answers: pd.DataFrame) -> None:
    names = dict(pd.read_csv(trial.private / "names.csv").to_numpy().tolist())
    calls = dict(answers.to_numpy().tolist())
    with open_zip(trial.raw / "train2.zip") as raw, open_zip(trial.public / "test2.zip") as test:
        for old, new in names.items():
            assert raw.read(f"train2/{old}") == test.read(f"test2/{new}")
            assert calls[new] == int(old.endswith("_1.aif"))
    assert set(calls) == set(names.values())
