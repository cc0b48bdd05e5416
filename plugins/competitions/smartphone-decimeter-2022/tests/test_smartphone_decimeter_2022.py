"""Smartphones: digits that change, and rows that meet within their trip."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
from mle_comp_smartphone_decimeter_2022 import RADIUS, mean_of_trips
from mlecore_testing import Trial

LAT, LNG = "LatitudeDegrees", "LongitudeDegrees"


def test_answers_are_read_plain_and_in_order(trial: Trial, answers: pd.DataFrame) -> None:
    paths = [
        path
        for drive in sorted(path.name for path in (trial.public / "test").iterdir())
        for path in sorted((trial.raw / "train" / drive).glob("*/ground_truth.csv"))
    ]
    plain, exact = (
        pd.concat([pd.read_csv(path, float_precision=precision) for path in paths])
        for precision in (None, "round_trip")
    )
    assert answers["tripId"].drop_duplicates().tolist() == [f"{p.parts[-3]}-{p.parts[-2]}" for p in paths]
    assert answers[LNG].tolist() == plain[LNG].tolist() != exact[LNG].tolist()
    assert answers.columns.tolist() == ["tripId", "UnixTimeMillis", LAT, LNG]


def test_rows_meet_within_their_trip(trial: Trial, answers: pd.DataFrame) -> None:
    trips = [trip for _, trip in answers.groupby("tripId")]
    assert trial.grade(pd.concat(trips[::-1])) == 0
    assert trial.grade(answers.assign(UnixTimeMillis="never")) == 0
    assert any("UnixTimeMillis" in warning for warning in trial.check(answers.assign(UnixTimeMillis=0)))
    assert trial.grade(answers.iloc[::-1]) > 0
    moved = answers.assign(tripId=answers["tripId"].where(answers.index > 0, answers["tripId"].iloc[-1]))
    trial.refuses(moved, "too often")


def test_percentiles(trial: Trial, answers: pd.DataFrame) -> None:
    far = answers.groupby("tripId").cumcount().to_numpy()
    north = answers.assign(**{LAT: answers[LAT] + np.degrees(far / 6_371_000)})
    count = far.max()
    assert math.isclose(trial.grade(north), 0.5 * (0.5 * count + 0.95 * count), rel_tol=1e-6)
    one = answers.assign(**{LAT: answers[LAT].where(answers["tripId"] != answers["tripId"][0], 0.0)})
    assert trial.grade(one) > 1e6 / answers["tripId"].nunique()


def test_trips_of_one_length_are_those_one_by_one() -> None:
    rng = np.random.default_rng(0)
    trips = np.repeat(list("dabcfe"), [5, 9, 5, 1, 20, 9])
    truth, predictions = (pd.DataFrame({"tripId": trips, LAT: rng.random(49), LNG: 0.0}) for _ in "ab")
    far = np.radians((truth[LAT] - predictions[LAT]).abs()).to_numpy() * RADIUS
    each = [np.quantile(far[trips == trip], [0.5, 0.95]).mean() for trip in "dabcfe"]
    assert math.isclose(mean_of_trips(truth, predictions), np.mean(each), rel_tol=1e-9)


def test_what_counts_as_a_coordinate(trial: Trial, answers: pd.DataFrame) -> None:
    for value in (None, math.inf):
        assert math.isnan(trial.grade(answers.assign(**{LAT: answers[LAT].where(answers.index > 0, value)})))
    assert math.isfinite(trial.grade(answers.assign(**{LAT: True})))
    for odd in ("word", "1_0"):
        trial.refuses(answers.assign(**{LAT: answers[LAT].astype(object).where(answers.index > 0, odd)}), LAT)
    trial.refuses(answers.assign(**{LAT: answers.index.map(lambda row: True if row else None)}), "beside missing cells")
