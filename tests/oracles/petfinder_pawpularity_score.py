"""PetFinder.my - Pawpularity Contest, from its sheet."""

import shutil

import numpy as np
import pandas as pd
from sklearn.metrics import mean_squared_error
from sklearn.model_selection import train_test_split


def read(path):
    return pd.read_csv(path, float_precision="round_trip")


def prepare(raw, public, private):
    table = read(raw / "train.csv")
    assert table.columns[-1] == "Pawpularity"
    train, test = train_test_split(table, test_size=0.1, random_state=0)
    train.to_csv(public / "train.csv", index=False)
    test.to_csv(private / "test.csv", index=False)
    test.drop(columns="Pawpularity").to_csv(public / "test.csv", index=False)
    scores = np.random.default_rng(0).uniform(1, 100, len(test)).round(2)
    test[["Id"]].assign(Pawpularity=scores).to_csv(public / "sample_submission.csv", index=False)
    for name, part in (("train", train), ("test", test)):
        (public / name).mkdir()
        for id in part["Id"]:
            shutil.copy(raw / "train" / f"{id}.jpg", public / name)


def grade(submission, private):
    predictions, truth = read(submission), read(private / "test.csv")
    assert predictions["Pawpularity"].between(1, 100).all()
    predictions, truth = (table.sort_values("Id") for table in (predictions, truth))
    assert predictions["Id"].tolist() == truth["Id"].tolist()
    return (
        mean_squared_error(truth["Pawpularity"].to_numpy(), predictions["Pawpularity"].to_numpy().astype(float)) ** 0.5
    )
