"""Google Smartphone Decimeter Challenge: where was the phone on its drive?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mlecore.errors import InvalidSubmission
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import Format, Table, ensure, link_tree, read_answers, read_csv, split, write_csv

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from pandas import DataFrame

TRIP, TIME = "tripId", "UnixTimeMillis"
COORDINATES = ["LatitudeDegrees", "LongitudeDegrees"]
TRUTH = "ground_truth.csv"
SOMEWHERE = {"LatitudeDegrees": 37.904611315634504, "LongitudeDegrees": -86.48107806249548}  # of the sample
RADIUS = 6_371_000  # of the Earth, in metres


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    import pandas as pd

    ensure((raw / "train").is_dir(), "the folder train is missing")
    drives = sorted(path.name for path in (raw / "train").iterdir() if path.is_dir())
    train_dates, test_dates = split(sorted(set(map(_date, drives))), test_size=0.1)
    train, test = ([name for name in drives if _date(name) in dates] for dates in (train_dates, test_dates))
    for part, folder in ((train, "train"), (test, "test")):
        for name in part:
            link_tree(raw / "train" / name, public / folder / name)
    known = sum(1 for _ in (public / "train").rglob(TRUTH))
    ensure(known >= len(train), f"{len(train)} training drives have {known} files {TRUTH}")
    answers = pd.concat([trip for name in test for trip in _trips(raw / "train" / name)])
    for path in sorted((public / "test").rglob(TRUTH)):
        path.unlink()  # the link: the raw file stays
    link_tree(raw / "metadata", public / "metadata")
    write_csv(answers, private / "test.csv")
    write_csv(answers.assign(**SOMEWHERE), public / "sample_submission.csv")


def _date(drive: str) -> str:
    """2020-05-15 of "2020-5-15-US-MTV-1"."""
    fields = drive.split("-")[:3]
    ensure(len(fields) == 3 and all(field.isdigit() for field in fields), f"the drive {drive} begins with no date")
    return "-".join([fields[0], *(field.zfill(2) for field in fields[1:])])


def _trips(drive: Path) -> Iterator[DataFrame]:
    """The answers of each phone. A phone without a reference track is left out, a drive without any may not be."""
    paths = sorted(drive.glob(f"*/{TRUTH}"))
    ensure(paths, f"the drive {drive.name} has no {TRUTH}")
    for path in paths:
        table = read_csv(path, float_precision=None)  # changes last digits, as published
        ensure(len(table), f"{path} has no rows")
        table.insert(0, TRIP, f"{drive.name}-{path.parent.name}")
        yield table[[TRIP, TIME, *COORDINATES]]


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    truth, predictions = format.read(submission, read_answers(private / "test.csv", [TRIP, TIME, *COORDINATES]))
    _refuse_truth_values(submission)
    return mean_of_trips(truth, _within_trips(truth, predictions))


def mean_of_trips(truth: DataFrame, predictions: DataFrame) -> float:
    """The mean over trips of the mean of the median and the 95th percentile of the distances in metres.

    Rows are paired by their place.
    """
    import numpy as np

    far = _distance(truth[COORDINATES].to_numpy(dtype=float), predictions[COORDINATES].to_numpy(dtype=float))
    places = list(truth.groupby(TRIP, sort=False).indices.values())
    lengths, scores = np.array(list(map(len, places))), np.empty(len(places))
    for length in np.unique(lengths):  # trips of one length at once
        trips = np.flatnonzero(lengths == length)
        scores[trips] = np.quantile(far[[places[trip] for trip in trips]], [0.5, 0.95], axis=1).mean(axis=0)
    return float(scores.mean())


def _within_trips(truth: DataFrame, predictions: DataFrame) -> DataFrame:
    """The rows of ``predictions`` beside those of ``truth``: the first of a trip meets the first of it, and so on."""
    import numpy as np

    if truth[TRIP].dtype == object and (truth[TRIP].to_numpy() == predictions[TRIP].to_numpy()).all():
        return predictions
    asked, given = (np.argsort(table[TRIP].to_numpy(dtype=str), kind="stable") for table in (truth, predictions))
    order = np.empty_like(asked)
    order[asked] = given
    return predictions.iloc[order].reset_index(drop=True)


def _distance(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    """Metres between points (rows x latitude, longitude in degrees) by the haversine formula."""
    import numpy as np

    with np.errstate(invalid="ignore"):
        (lat, lng), (other_lat, other_lng) = np.radians(a).T, np.radians(b).T
        half = np.sin((other_lat - lat) / 2) ** 2 + np.cos(lat) * np.cos(other_lat) * np.sin((other_lng - lng) / 2) ** 2
        return np.asarray(2 * RADIUS * np.arcsin(np.sqrt(half)))


@hookimpl
def examine(submission: Table, asked: DataFrame, predictions: DataFrame) -> Sequence[str]:
    _refuse_truth_values(submission)
    warnings = []
    if not (asked[TIME] == _within_trips(asked, predictions)[TIME]).all():
        warnings.append(f"rows of a trip are paired by their place, and their {TIME} is not the sample's")
    if predictions[COORDINATES].isna().any(axis=None):
        warnings.append("coordinates are missing: allowed, but the score will be NaN")
    return warnings


def _refuse_truth_values(submission: Table) -> None:
    """True and False beside missing cells are no coordinates; a column of nothing else counts as 1 and 0."""
    frame = submission.frame()
    for name in COORDINATES:
        if frame[name].dtype == object and frame[name].isin([True, False]).any():
            raise InvalidSubmission(f"column {name!r} must hold numbers; it holds True and False beside missing cells")
