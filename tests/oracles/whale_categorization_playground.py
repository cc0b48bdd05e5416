"""Humpback Whale Identification, from its sheet."""

import shutil

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

SAMPLE = "new_whale w_1287fbc w_98baff9 w_7554f44 w_1eafe46"


def prepare(raw, public, private):
    rows = pd.read_csv(raw / "train.csv", float_precision="round_trip")
    draw = np.random.default_rng(0)
    rows["part"] = ""
    for id in rows["Id"].unique():
        mine = rows[rows["Id"] == id]
        if len(mine) == 1:
            rows.loc[mine.index, "part"] = draw.choice(["train", "test"], replace=False, p=[0.9, 0.1])
        else:
            ours, theirs = mine.sample(2, random_state=0).index
            rows.loc[ours, "part"] = "train"
            rows.loc[theirs, "part"] = "test"
    train, test = train_test_split(rows[rows["part"] == ""], test_size=0.1, random_state=0)
    rows.loc[train.index, "part"] = "train"
    rows.loc[test.index, "part"] = "test"
    train, test = (rows[rows["part"] == name][["Image", "Id"]] for name in ("train", "test"))
    train.to_csv(public / "train.csv", index=False)
    test.assign(Id=test["Id"].where(test["Id"].isin(train["Id"]), "new_whale")).to_csv(
        private / "test.csv", index=False
    )
    test.assign(Id=SAMPLE).to_csv(public / "sample_submission.csv", index=False)
    for name, part in (("train", train), ("test", test)):
        (public / name).mkdir()
        for image in part["Image"]:
            shutil.copy(raw / "train" / image, public / name)


def grade(submission, private):
    predictions = pd.read_csv(submission, float_precision="round_trip")
    truth = pd.read_csv(private / "test.csv", float_precision="round_trip")
    assert sorted(predictions.columns) == ["Id", "Image"]
    assert len(predictions) == len(truth) and set(predictions["Image"]) == set(truth["Image"])
    predictions, truth = predictions.sort_values("Image"), truth.sort_values("Image")
    total = 0.0
    for said, right in zip(predictions["Id"].astype(str), truth["Id"], strict=True):
        best = said.split(" ")[:5]
        total += 1 / (best.index(right) + 1) if right in best else 0
    return total / len(truth)
