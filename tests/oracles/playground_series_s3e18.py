"""Playground Series S3E18, from its sheet."""

import pandas as pd
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

TARGETS = [f"EC{k}" for k in range(1, 7)]


def prepare(raw, public, private):
    rows = pd.read_csv(raw / "train.csv", float_precision="round_trip")
    train, test = train_test_split(rows, test_size=0.1, random_state=0)
    train.to_csv(public / "train.csv", index=False)
    test.to_csv(private / "test.csv", index=False)
    shown = test.drop(columns=TARGETS)
    assert len(shown.columns) == 32 and len(rows.columns) == 38
    shown.to_csv(public / "test.csv", index=False)
    test[["id", "EC1", "EC2"]].assign(EC1=0.5, EC2=0.5).to_csv(public / "sample_submission.csv", index=False)


def grade(submission, private):
    predictions = pd.read_csv(submission, float_precision="round_trip")
    truth = pd.read_csv(private / "test.csv", float_precision="round_trip")
    predictions["id"], predictions["EC1"], predictions["EC2"]
    assert len(predictions) == len(truth)
    predictions, truth = (table.sort_values("id").reset_index(drop=True) for table in (predictions, truth))
    assert (predictions["id"] == truth["id"]).all()
    said = {name: [float(cell) for cell in predictions[name]] for name in ("EC1", "EC2")}
    return sum(roc_auc_score(truth[name], said[name]) for name in said) / 2
