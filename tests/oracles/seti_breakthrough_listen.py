"""SETI Breakthrough Listen, from its sheet."""

import shutil

import pandas as pd
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split


def prepare(raw, public, private):
    rows = pd.read_csv(raw / "train_labels.csv", float_precision="round_trip")
    train, test = train_test_split(rows, test_size=0.1, random_state=0)
    train.to_csv(public / "train_labels.csv", index=False)
    test.to_csv(private / "test.csv", index=False)
    test.assign(target=0.5).to_csv(public / "sample_submission.csv", index=False)
    shutil.copytree(raw / "old_leaky_data", public / "old_leaky_data")
    for name, part in (("train", train), ("test", test)):
        for id in part["id"]:
            (public / name / id[0]).mkdir(parents=True, exist_ok=True)
            shutil.copy(raw / "train" / id[0] / f"{id}.npy", public / name / id[0])


def grade(submission, private):
    predictions = pd.read_csv(submission, float_precision="round_trip")
    truth = pd.read_csv(private / "test.csv", float_precision="round_trip")
    predictions["id"], predictions["target"]
    assert len(predictions) == len(truth)
    predictions["target"] = pd.to_numeric(predictions["target"])
    assert predictions["target"].min() >= 0 and predictions["target"].max() <= 1
    predictions, truth = (table.sort_values("id").reset_index(drop=True) for table in (predictions, truth))
    assert (predictions["id"] == truth["id"]).all()
    return roc_auc_score(truth["target"], predictions["target"])
