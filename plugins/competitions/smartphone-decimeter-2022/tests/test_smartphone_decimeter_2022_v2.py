"""Google Smartphone Decimeter Challenge, edition v2: no reference log in the test part, pairs of trip and time."""

from __future__ import annotations

import math
import statistics
from collections import defaultdict

import numpy as np
import pandas as pd
import pytest
from mlecore_testing import Trial

pytestmark = pytest.mark.trial(edition="v2")
LAT, LNG = "LatitudeDegrees", "LongitudeDegrees"


def logs(trial: Trial, part: str) -> int:
    return len(list((trial.public / part).rglob("span_log.nmea")))


def test_the_reference_log_is_left_out_of_test(trial: Trial, trial_v1: Trial) -> None:
    assert logs(trial_v1, "test") > 0
    assert logs(trial, "test") == 0
    assert logs(trial, "train") == logs(trial_v1, "train") > 0
    assert (trial.private / "test.csv").read_bytes() == (trial_v1.private / "test.csv").read_bytes()


def test_no_date_is_in_both_parts(trial: Trial) -> None:
    train, test = (
        {drive.name[:10] for drive in (trial.public / part).iterdir() if drive.is_dir()} for part in ("train", "test")
    )
    assert train and test
    assert not train & test


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


@pytest.mark.parametrize(("column", "value"), [(LAT, math.nan), (LAT, 90.1), (LNG, -180.5), (LNG, math.inf)])
def test_coordinates_are_numbers_in_range(trial: Trial, answers: pd.DataFrame, column: str, value: float) -> None:
    trial.refuses(answers.assign(**{column: [value, *answers[column][1:]]}), column)


@pytest.mark.slow
def test_it_agrees_with_the_definition(trial: Trial, answers: pd.DataFrame) -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        given = answers.assign(
            **{
                name: answers[name] + rng.normal(scale=rng.choice([1e-5, 1.0]), size=len(answers))
                for name in (LAT, LNG)
            }
        )
        places = {(trip, time): (lat, lng) for trip, time, lat, lng in given.itertuples(index=False)}
        far = defaultdict(list)
        for trip, time, lat, lng in answers.itertuples(index=False):
            far[trip].append(haversine(lat, lng, *places[trip, time]))
        scores = [(quantile(each, 0.5) + quantile(each, 0.95)) / 2 for each in far.values()]
        score = trial.competition.grade(given.sample(frac=1, random_state=1), trial.private)
        assert math.isclose(score, statistics.fmean(scores), rel_tol=1e-9)


def haversine(lat: float, lng: float, other_lat: float, other_lng: float) -> float:
    lat, lng, other_lat, other_lng = map(math.radians, (lat, lng, other_lat, other_lng))
    half = math.sin((other_lat - lat) / 2) ** 2
    half += math.cos(lat) * math.cos(other_lat) * math.sin((other_lng - lng) / 2) ** 2
    return 2 * 6_371_000 * math.asin(math.sqrt(half))


def quantile(values: list[float], share: float) -> float:
    ordered, place = sorted(values), share * (len(values) - 1)
    low = math.floor(place)
    return ordered[low] + (place - low) * (ordered[min(low + 1, len(ordered) - 1)] - ordered[low])
