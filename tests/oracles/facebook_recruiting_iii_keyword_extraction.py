"""Facebook Recruiting III, from its sheet."""

import zipfile

import pandas as pd
from sklearn.model_selection import train_test_split


def prepare(raw, public, private):
    with zipfile.ZipFile(raw / "Train.zip") as archive, archive.open("Train.csv") as file:
        rows = pd.read_csv(file, dtype={"Id": str, "Tags": str}, float_precision="round_trip")
    train, test = train_test_split(rows, test_size=0.1, random_state=0)
    train.to_csv(public / "train.csv", index=False)
    test.to_csv(private / "test.csv", index=False)
    test.drop(columns="Tags").to_csv(public / "test.csv", index=False)
    test.assign(Tags="javascript c# python php java").to_csv(public / "sample_submission.csv", index=False)


def grade(submission, private):
    predictions = pd.read_csv(submission, float_precision="round_trip")
    truth = pd.read_csv(private / "test.csv", float_precision="round_trip")
    predictions["Id"], predictions["Tags"]
    assert len(predictions) == len(truth)
    predictions, truth = (table.sort_values("Id").reset_index(drop=True) for table in (predictions, truth))
    assert (predictions["Id"] == truth["Id"]).all()
    right = [set(cell.split()) for cell in truth["Tags"].fillna("")]
    known = set().union(*right)
    assert known
    said = [set(cell.split()) & known for cell in predictions["Tags"].fillna("")]  # numbers have no split
    hits = sum(len(a & b) for a, b in zip(right, said, strict=True))
    return 2 * hits / (sum(map(len, right)) + sum(map(len, said)))
