"""RSNA Breast Cancer Detection, from its sheet."""

import shutil

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

SHOWN = [
    "site_id",
    "patient_id",
    "image_id",
    "laterality",
    "view",
    "age",
    "implant",
    "machine_id",
    "prediction_id",
]


def prepare(raw, public, private):
    rows = pd.read_csv(raw / "train.csv", float_precision="round_trip")
    ours, _ = train_test_split(rows["patient_id"].unique(), test_size=0.1, random_state=42)
    train, test = rows[rows["patient_id"].isin(ours)], rows[~rows["patient_id"].isin(ours)].copy()
    train.to_csv(public / "train.csv", index=False)
    test["prediction_id"] = test["patient_id"].astype(str) + "_" + test["laterality"]
    test[SHOWN].to_csv(public / "test.csv", index=False)
    answers = test.drop_duplicates("prediction_id").sort_values("prediction_id")[["prediction_id", "cancer"]]
    assert len(answers) < len(test)
    answers.to_csv(private / "answers.csv", index=False)
    answers.assign(cancer=train["cancer"].mean()).to_csv(public / "sample_submission.csv", index=False)
    for name, part in (("train_images", train), ("test_images", test)):
        for patient, image in zip(part["patient_id"], part["image_id"], strict=True):
            folder = public / name / str(patient)
            folder.mkdir(parents=True, exist_ok=True)
            shutil.copy(raw / "train_images" / str(patient) / f"{image}.dcm", folder)


def grade(submission, private):
    predictions = pd.read_csv(submission, float_precision="round_trip")
    truth = pd.read_csv(private / "answers.csv", float_precision="round_trip")
    predictions["prediction_id"], predictions["cancer"]
    assert len(predictions) == len(truth)
    predictions, truth = (table.sort_values("prediction_id").reset_index(drop=True) for table in (predictions, truth))
    assert (predictions["prediction_id"] == truth["prediction_id"]).all()
    said = predictions["cancer"]
    assert said.dtype.kind in "iufb" or said.dropna().map(lambda cell: isinstance(cell, bool)).all()
    p = said.astype(float).to_numpy()
    assert not (p < 0).all()
    p = np.clip(p, 0, 1)
    sick = truth["cancer"].to_numpy() == 1
    hit, miss = p[sick].sum(), p[~sick].sum()
    if not hit > 0:
        return 0.0
    precision, recall = hit / (hit + miss), hit / sick.sum()
    return 2 * precision * recall / (precision + recall) if precision > 0 and recall > 0 else 0.0
