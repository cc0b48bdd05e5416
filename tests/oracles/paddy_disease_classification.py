"""Paddy Doctor, from its sheet."""

import shutil

import pandas as pd
from sklearn.model_selection import train_test_split


def prepare(raw, public, private):
    rows = pd.read_csv(raw / "train.csv", float_precision="round_trip")
    train, test = train_test_split(rows, train_size=0.75, random_state=0)
    train.to_csv(public / "train.csv", index=False)
    test.to_csv(private / "test.csv", index=False)
    test[["image_id", "label"]].assign(label="").to_csv(public / "sample_submission.csv", index=False)
    for label, image in zip(train["label"], train["image_id"], strict=True):
        (public / "train_images" / label).mkdir(parents=True, exist_ok=True)
        shutil.copy(raw / "train_images" / label / image, public / "train_images" / label)
    (public / "test_images").mkdir()
    for label, image in zip(test["label"], test["image_id"], strict=True):
        shutil.copy(raw / "train_images" / label / image, public / "test_images")


def grade(submission, private):
    predictions = pd.read_csv(submission, float_precision="round_trip")
    truth = pd.read_csv(private / "test.csv", float_precision="round_trip")
    assert not truth.isna().any().any()
    predictions["image_id"], predictions["label"]
    assert len(predictions) == len(truth)
    predictions, truth = (table.sort_values("image_id").reset_index(drop=True) for table in (predictions, truth))
    assert (predictions["image_id"] == truth["image_id"]).all()
    said = predictions["label"]
    assert said.isna().any() or said.dtype == object
    return float((said.astype(object).fillna("") == truth["label"]).mean())
