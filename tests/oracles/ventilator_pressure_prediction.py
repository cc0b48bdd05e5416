"""Ventilator Pressure Prediction, from its sheet."""

import numpy as np
import pandas as pd
from sklearn.metrics import mean_absolute_error
from sklearn.model_selection import train_test_split

WHOLE = {"id": "int32", "breath_id": "int32", "R": "int8", "C": "int8", "u_out": "int8"}


def prepare(raw, public, private):
    table = pd.read_csv(raw / "train.csv", float_precision="round_trip", dtype=WHOLE)
    breaths = [list(rows) for _, rows in sorted(table.groupby("breath_id").indices.items())]
    train, test = (
        table.iloc[[row for breath in part for row in breath]].copy()
        for part in train_test_split(breaths, test_size=0.1, random_state=0)
    )
    for part in (train, test):
        part["id"] = range(1, len(part) + 1)
    options = {"index": False, "float_format": "%.10g"}
    train.to_csv(public / "train.csv", **options)
    test.drop(columns="pressure").to_csv(public / "test.csv", **options)
    test[["id"]].assign(pressure=0).to_csv(public / "sample_submission.csv", **options)
    test.to_csv(private / "test.csv", **options)


def grade(submission, private):
    predictions = pd.read_csv(submission, float_precision="round_trip")
    truth = pd.read_csv(private / "test.csv", float_precision="round_trip")
    predictions["pressure"], predictions["id"]
    assert len(predictions) == len(truth)
    predictions, truth = (table.sort_values("id").reset_index(drop=True) for table in (predictions, truth))
    assert (predictions["id"] == truth["id"]).all()
    scored = truth["u_out"] == 0
    values = predictions.loc[scored, "pressure"].tolist()
    if predictions["pressure"].dtype == object:
        assert not any(isinstance(value, bool) for value in values) or not any(isinstance(v, str) for v in values)
    values = np.array([float(value) for value in values])
    assert np.isfinite(values).all()
    return mean_absolute_error(truth.loc[scored, "pressure"], values)
