"""iMet 2020, from its sheet."""

import shutil

import pandas as pd
from sklearn.model_selection import train_test_split


def prepare(raw, public, private):
    rows = pd.read_csv(raw / "train.csv", float_precision="round_trip")
    train, test = train_test_split(rows, test_size=0.15, random_state=0)
    test.to_csv(private / "answers.csv", index=False)
    train.to_csv(public / "train.csv", index=False)
    test.assign(attribute_ids="0 1 2").to_csv(public / "sample_submission.csv", index=False)
    shutil.copy(raw / "labels.csv", public)
    for name, part in (("train", train), ("test", test)):
        (public / name).mkdir()
        for id in part["id"]:
            shutil.copy(raw / "train" / f"{id}.png", public / name)


def grade(submission, private):
    predictions = pd.read_csv(submission, float_precision="round_trip")
    truth = pd.read_csv(private / "answers.csv", float_precision="round_trip")
    predictions["id"], predictions["attribute_ids"]
    assert len(predictions) == len(truth)
    predictions, truth = (table.sort_values("id").reset_index(drop=True) for table in (predictions, truth))
    assert (predictions["id"] == truth["id"]).all()
    right = [set(cell.split()) for cell in truth["attribute_ids"].fillna("")]
    known = set().union(*right)
    said = [set(cell.split()) & known for cell in predictions["attribute_ids"].fillna("")]
    hits = sum(len(a & b) for a, b in zip(right, said, strict=True))
    return 2 * hits / (sum(map(len, right)) + sum(map(len, said)))
