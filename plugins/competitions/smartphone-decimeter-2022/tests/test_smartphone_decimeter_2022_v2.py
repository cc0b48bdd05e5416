"""Google Smartphone Decimeter Challenge, edition v2: no reference log in the test part, pairs of trip and time."""

from __future__ import annotations

import pandas as pd
import pytest

from mlecore_testing import Trial

pytestmark = pytest.mark.trial(edition="v2")


def logs(trial: Trial, part: str) -> int:
    return len(list((trial.public / part).rglob("span_log.nmea")))


def test_the_reference_log_is_left_out_of_test(trial: Trial, trial_v1: Trial) -> None:
    assert logs(trial_v1, "test") > 0
    assert logs(trial, "test") == 0
    assert logs(trial, "train") == logs(trial_v1, "train") > 0
    assert (trial.private / "test.csv").read_bytes() == (trial_v1.private / "test.csv").read_bytes()


def test_rows_may_be_in_any_order(trial: Trial, trial_v1: Trial, answers: pd.DataFrame) -> None:
    shuffled = answers.sample(frac=1, random_state=0)
    assert trial_v1.grade(shuffled) > 1
    assert trial.grade(shuffled) == 0


def test_each_time_of_a_trip_is_there_once(trial: Trial, answers: pd.DataFrame) -> None:
    times = answers["UnixTimeMillis"].tolist()
    trial.refuses(answers.assign(UnixTimeMillis=[times[1], *times[1:]]), "each time of a trip once")
    trial.refuses(answers.assign(UnixTimeMillis=[7, *times[1:]]), "as in the sample; found row 1: '7 of ")
    swapped = answers["tripId"].tolist()[::-1]
    trial.refuses(answers.assign(tripId=swapped), "as in the sample")
