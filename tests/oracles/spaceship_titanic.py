"""Spaceship Titanic, from its sheet."""

import pandas as pd
from sklearn.metrics import accuracy_score
from sklearn.model_selection import train_test_split


def prepare(raw, public, private):
    rows = pd.read_csv(raw / "train.csv", float_precision="round_trip")
    train, test = train_test_split(rows, test_size=0.1, random_state=0)
    train.to_csv(public / "train.csv", index=False)
    test.to_csv(private / "test.csv", index=False)
    test.drop(columns="Transported").to_csv(public / "test.csv", index=False)
    test[["PassengerId"]].assign(Transported=False).to_csv(public / "sample_submission.csv", index=False)


def grade(submission, private):
    predictions = pd.read_csv(submission, float_precision="round_trip")
    truth = pd.read_csv(private / "test.csv", float_precision="round_trip")
    assert len(predictions) == len(truth)
    predictions, truth = (table.sort_values("PassengerId").reset_index(drop=True) for table in (predictions, truth))
    assert (predictions["PassengerId"] == truth["PassengerId"]).all()
    return accuracy_score(truth["Transported"], predictions["Transported"])
