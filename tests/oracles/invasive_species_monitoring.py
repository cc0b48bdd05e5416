"""Invasive Species Monitoring, from its sheet; the images are packed, as edition v1 does better than the reference."""

import shutil
import zipfile

import pandas as pd
import py7zr
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split


def prepare(raw, public, private):
    with zipfile.ZipFile(raw / "train_labels.csv.zip") as archive, archive.open("train_labels.csv") as file:
        rows = pd.read_csv(file, float_precision="round_trip")
    train, test = train_test_split(rows, test_size=0.2, random_state=0)
    test.to_csv(private / "answers.csv", index=False)
    sample = test.assign(invasive=0.5)
    sample.to_csv(private / "sample_submission.csv", index=False)
    for name, part in (("train_labels.csv", train), ("sample_submission.csv", sample)):
        with zipfile.ZipFile(public / f"{name}.zip", "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(name, part.to_csv(index=False))
    work = private.parent / "work"
    with py7zr.SevenZipFile(raw / "train.7z") as archive:
        archive.extractall(work)
    for name, part in (("train", train), ("test", test)):
        with py7zr.SevenZipFile(public / f"{name}.7z", "w") as archive:
            for id in part["name"]:
                archive.write(work / "train" / f"{id}.jpg", f"{name}/{id}.jpg")
    shutil.rmtree(work)


def grade(submission, private):
    predictions = pd.read_csv(submission, float_precision="round_trip")
    truth = pd.read_csv(private / "answers.csv", float_precision="round_trip")
    predictions["name"], predictions["invasive"]
    assert len(predictions) == len(truth)
    predictions["invasive"] = pd.to_numeric(predictions["invasive"])
    assert predictions["invasive"].min() >= 0 and predictions["invasive"].max() <= 1
    predictions, truth = (table.sort_values("name").reset_index(drop=True) for table in (predictions, truth))
    assert (predictions["name"] == truth["name"]).all()
    return roc_auc_score(truth["invasive"], predictions["invasive"])
