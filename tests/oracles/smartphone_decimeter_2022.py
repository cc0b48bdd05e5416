import shutil

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

COLUMNS = ["tripId", "UnixTimeMillis", "LatitudeDegrees", "LongitudeDegrees"]


def date(drive):
    year, month, day = drive.split("-")[:3]
    return f"{year}-{int(month):02d}-{int(day):02d}"


def prepare(raw, public, private):
    drives = sorted(path.name for path in (raw / "train").iterdir() if path.is_dir())
    train_dates, _ = train_test_split(sorted({date(drive) for drive in drives}), test_size=0.1, random_state=0)
    tables = []
    for drive in drives:
        part = "train" if date(drive) in train_dates else "test"
        shutil.copytree(raw / "train" / drive, public / part / drive)
    for path in sorted((public / "test").glob("**/ground_truth.csv")):
        drive, phone = path.relative_to(public / "test").parts[:2]
        table = pd.read_csv(path)
        table["tripId"] = f"{drive}-{phone}"
        tables.append(table[COLUMNS])
        path.unlink()
    answers = pd.concat(tables)
    answers.to_csv(private / "test.csv", index=False)
    sample = answers.assign(LatitudeDegrees=37.904611315634504, LongitudeDegrees=-86.48107806249548)
    sample.to_csv(public / "sample_submission.csv", index=False)
    shutil.copytree(raw / "metadata", public / "metadata")


def grade(submission, private):
    predictions = pd.read_csv(submission, float_precision="round_trip")
    truth = pd.read_csv(private / "test.csv", float_precision="round_trip")
    assert set(COLUMNS) <= set(predictions.columns)
    assert len(predictions) == len(truth)
    scores = []
    for trip in truth["tripId"].unique():
        one, other = predictions[predictions["tripId"] == trip], truth[truth["tripId"] == trip]
        assert len(one) == len(other)
        for column in COLUMNS[2:]:
            assert not any(isinstance(cell, str) for cell in predictions[column])
        lat1, lon1, lat2, lon2 = (
            np.radians(1.0 * table[column].to_numpy()) for table in (one, other) for column in COLUMNS[2:]
        )
        with np.errstate(invalid="ignore"):
            a = np.sin((lat2 - lat1) / 2) ** 2 + np.cos(lat1) * np.cos(lat2) * np.sin((lon2 - lon1) / 2) ** 2
            distance = 2 * 6_371_000 * np.arcsin(np.sqrt(a))
            scores.append((np.quantile(distance, 0.5) + np.quantile(distance, 0.95)) / 2)
    return np.mean(scores)
