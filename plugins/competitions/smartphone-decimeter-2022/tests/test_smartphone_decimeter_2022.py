"""Smartphones: rows that meet within their trip."""

from __future__ import annotations

import math

import pandas as pd

from mlecore_testing import Trial

LAT, LNG = "LatitudeDegrees", "LongitudeDegrees"


def test_rows_meet_within_their_trip(trial: Trial, answers: pd.DataFrame) -> None:
    trips = [trip for _, trip in answers.groupby("tripId")]
    assert trial.grade(pd.concat(trips[::-1])) == 0
    assert trial.grade(answers.assign(UnixTimeMillis="never")) == 0
    assert any("UnixTimeMillis" in warning for warning in trial.check(answers.assign(UnixTimeMillis=0)))
    assert trial.grade(answers.iloc[::-1]) > 0
    moved = answers.assign(tripId=answers["tripId"].where(answers.index > 0, answers["tripId"].iloc[-1]))
    trial.refuses(moved, "too often")


def test_what_counts_as_a_coordinate(trial: Trial, answers: pd.DataFrame) -> None:
    for value in (None, math.inf):
        assert math.isnan(trial.grade(answers.assign(**{LAT: answers[LAT].where(answers.index > 0, value)})))
    assert math.isfinite(trial.grade(answers.assign(**{LAT: True})))
    for odd in ("word", "1_0"):
        trial.refuses(answers.assign(**{LAT: answers[LAT].astype(object).where(answers.index > 0, odd)}), LAT)
    trial.refuses(answers.assign(**{LAT: answers.index.map(lambda row: True if row else None)}), "beside missing cells")
