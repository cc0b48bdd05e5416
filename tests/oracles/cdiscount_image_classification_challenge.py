"""Cdiscount, from its sheet; BSON by hand, since a product's bytes pass through unchanged but for its category."""

import shutil

import bson
import pandas as pd
from sklearn.metrics import accuracy_score
from sklearn.model_selection import train_test_split


def prepare(raw, public, private):
    with (raw / "train.bson").open("rb") as file:
        documents = list(bson.decode_file_iter(file))
    table = pd.DataFrame([(d["_id"], d["category_id"]) for d in documents], columns=["_id", "category_id"])
    train, test = train_test_split(table, test_size=0.1, random_state=0)
    answers = test.sort_values("_id")
    answers.to_csv(private / "answers.csv", index=False)
    answers.assign(category_id=1000010653).to_csv(public / "sample_submission.csv", index=False)
    ours, theirs = set(train["_id"]), set(test["_id"])
    assert not ours & theirs
    kept = [bson.BSON.encode(d) for d in documents if d["_id"] in ours]
    (public / "train.bson").write_bytes(b"".join(kept))
    (public / "train_example.bson").write_bytes(b"".join(kept[:100]))
    asked = [{k: v for k, v in d.items() if k != "category_id"} for d in documents if d["_id"] in theirs]
    (public / "test.bson").write_bytes(b"".join(map(bson.BSON.encode, asked)))
    shutil.copy(raw / "category_names.csv", public)


def grade(submission, private):
    predictions = pd.read_csv(submission, float_precision="round_trip")
    truth = pd.read_csv(private / "answers.csv", float_precision="round_trip")
    assert len(predictions) == len(truth)
    predictions["_id"], predictions["category_id"]
    predictions, truth = (table.sort_values("_id").reset_index(drop=True) for table in (predictions, truth))
    assert (predictions["_id"] == truth["_id"]).all()
    return accuracy_score(truth["category_id"], predictions["category_id"])
