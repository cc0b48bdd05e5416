"""iWildCam 2019, from its sheet."""

import zipfile

import pandas as pd
from sklearn.metrics import f1_score
from sklearn.model_selection import train_test_split


def prepare(raw, public, private):
    rows = pd.read_csv(raw / "train.csv", float_precision="round_trip")
    _, theirs = train_test_split(rows["location"].unique(), test_size=0.1, random_state=8)
    asked = rows["location"].isin(theirs)
    train, test = rows[~asked], rows[asked]
    test.to_csv(private / "test.csv", index=False)
    answers = test[["id", "category_id"]].rename(columns={"id": "Id", "category_id": "Category"})
    answers.to_csv(private / "answers.csv", index=False)
    train.to_csv(public / "train.csv", index=False)
    test.drop(columns="category_id").to_csv(public / "test.csv", index=False)
    answers.assign(Category=0).to_csv(public / "sample_submission.csv")
    with zipfile.ZipFile(raw / "train_images.zip") as old:
        for name, part in (("train_images.zip", train), ("test_images.zip", test)):
            with zipfile.ZipFile(public / name, "w", zipfile.ZIP_DEFLATED) as new:
                for id in part["id"].unique():
                    new.writestr(f"{id}.jpg", old.read(f"{id}.jpg"))


def grade(submission, private):
    predictions = pd.read_csv(submission, float_precision="round_trip")
    truth = pd.read_csv(private / "answers.csv", float_precision="round_trip")
    assert len(predictions) == len(truth)
    predictions["Id"], predictions["Category"]
    predictions, truth = (table.sort_values("Id").reset_index(drop=True) for table in (predictions, truth))
    assert (predictions["Id"] == truth["Id"]).all()
    labels = [int(value) for value in predictions["Category"].tolist()]
    assert all(-(2**63) <= label < 2**63 for label in labels)
    return f1_score(truth["Category"].tolist(), labels, average="macro")
