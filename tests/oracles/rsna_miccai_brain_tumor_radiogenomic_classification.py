"""RSNA-MICCAI Brain Tumor, from its sheet."""

import shutil

import pandas as pd
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split


def prepare(raw, public, private):
    rows = pd.read_csv(
        raw / "train_labels.csv", float_precision="round_trip", dtype={"BraTS21ID": str, "MGMT_value": int}
    )
    train, test = train_test_split(rows, test_size=0.1, random_state=0)
    for name, part in (("train", train), ("test", test)):
        for id in part["BraTS21ID"]:
            shutil.copytree(raw / "train" / id, public / name / id)
    train.to_csv(public / "train_labels.csv", index=False)
    test.to_csv(private / "test.csv", index=False)
    test.assign(MGMT_value=0.5).to_csv(public / "sample_submission.csv", index=False)


def grade(submission, private):
    predictions = pd.read_csv(submission, float_precision="round_trip")
    truth = pd.read_csv(private / "test.csv", float_precision="round_trip")
    predictions["BraTS21ID"], predictions["MGMT_value"]
    assert len(predictions) == len(truth)
    predictions["MGMT_value"] = pd.to_numeric(predictions["MGMT_value"])
    assert predictions["MGMT_value"].min() >= 0 and predictions["MGMT_value"].max() <= 1
    predictions, truth = (table.sort_values("BraTS21ID").reset_index(drop=True) for table in (predictions, truth))
    assert (predictions["BraTS21ID"] == truth["BraTS21ID"]).all()
    return roc_auc_score(truth["MGMT_value"], predictions["MGMT_value"])
