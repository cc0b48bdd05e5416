"""INGV Volcanic Eruption Prediction, from its sheet."""

import shutil

import pandas as pd
from sklearn.metrics import mean_absolute_error
from sklearn.model_selection import train_test_split


def prepare(raw, public, private):
    rows = pd.read_csv(raw / "train.csv", float_precision="round_trip")
    assert list(rows.columns) == ["segment_id", "time_to_eruption"]
    train, test = train_test_split(rows, test_size=0.1, random_state=0)
    train.to_csv(public / "train.csv", index=False)
    test.to_csv(private / "test.csv", index=False)
    test.assign(time_to_eruption=0).to_csv(public / "sample_submission.csv", index=False)
    for name, part in (("train", train), ("test", test)):
        (public / name).mkdir()
        for id in part["segment_id"]:
            shutil.copy(raw / "train" / f"{id}.csv", public / name)


def grade(submission, private):
    predictions = pd.read_csv(submission, float_precision="round_trip")
    truth = pd.read_csv(private / "test.csv", float_precision="round_trip")
    predictions = predictions[["segment_id", "time_to_eruption"]]
    assert set(predictions["segment_id"]) == set(truth["segment_id"])
    both = predictions.merge(truth, on="segment_id", suffixes=("_said", ""))
    return round(mean_absolute_error(both["time_to_eruption"], both["time_to_eruption_said"]))
