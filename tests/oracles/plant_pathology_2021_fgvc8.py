"""Plant Pathology 2021, from its sheet."""

import shutil

import pandas as pd
from sklearn.model_selection import train_test_split


def prepare(raw, public, private):
    rows = pd.read_csv(raw / "train.csv", float_precision="round_trip")
    train, test = train_test_split(rows, test_size=0.2, random_state=0)
    train.to_csv(public / "train.csv", index=False)
    test.to_csv(private / "answers.csv", index=False)
    test.assign(labels="healthy").to_csv(public / "sample_submission.csv", index=False)
    for name, part in (("train_images", train), ("test_images", test)):
        (public / name).mkdir()
        for image in part["image"]:
            shutil.copy(raw / "train_images" / image, public / name)


def grade(submission, private):
    predictions = pd.read_csv(submission, float_precision="round_trip")
    truth = pd.read_csv(private / "answers.csv", float_precision="round_trip")
    predictions["image"], predictions["labels"]
    assert len(predictions) == len(truth)
    predictions, truth = (table.sort_values("image").reset_index(drop=True) for table in (predictions, truth))
    assert (predictions["image"] == truth["image"]).all()
    right = [set(cell.split()) for cell in truth["labels"]]
    known = set().union(*right)
    said = [set(cell.split()) & known for cell in predictions["labels"].fillna("")]
    hits = sum(len(a & b) for a, b in zip(right, said, strict=True))
    return 2 * hits / (sum(map(len, right)) + sum(map(len, said)))
